"""What a test's bundle has and the shipped one has not: kinds that misbehave on purpose, and crash points."""
