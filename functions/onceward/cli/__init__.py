"""The command line: what a shell script or a person asks of a running API. Data on stdout, progress on stderr."""
