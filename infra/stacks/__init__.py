"""The stacks: state, which outlives every deploy, and service, which can be made anew."""
