"""The ports' ends: AWS behind threads, the same ports in memory, and the one reader of clock and randomness."""
