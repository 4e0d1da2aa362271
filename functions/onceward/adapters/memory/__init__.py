"""The ports in memory: shipped for users' tests and for simulation; one event loop, nothing durable."""
