"""What one tenant's account takes: conflicts, repeats and refusals by the rate of its jobs."""
