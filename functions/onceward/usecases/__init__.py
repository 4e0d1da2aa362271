"""The stories, one verb-named file each, over the ports in ``ports.py``."""
