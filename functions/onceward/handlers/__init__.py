"""The edge to AWS: one file per Lambda, the wiring that builds everything, the settings that read the environment."""
