"""The local cloud: ministack, the stand-in model server and the demo action target."""
