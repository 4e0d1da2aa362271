"""``python -m onceward.cli``, where the console script is not installed."""

from onceward.cli.main import app

if __name__ == "__main__":
    app(prog_name="onceward")
