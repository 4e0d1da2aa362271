"""The job kinds, one file each. Nothing is imported here: the extraction child starts through this package."""
