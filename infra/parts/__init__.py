"""The parts that the stacks are put together from; each decides one thing and says why."""
