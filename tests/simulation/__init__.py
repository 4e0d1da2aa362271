"""The simulation: the real code on a virtual clock, every fault at every boundary, a judge of its own."""
