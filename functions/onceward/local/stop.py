"""End all that ``make run`` started: ``python -m onceward.local.stop``."""

from onceward.local.cloud import LocalCloud
from onceward.local.model_choice import stand_in_server
from onceward.local.places import RUN, STACK_FILE
from onceward.local.stack_file import forget_stack
from onceward.local.tracker_server import tracker_server


def stop() -> list[str]:
    """End the servers of the last run, whatever their ports; name those that ran."""
    ran = {
        "the local cloud": LocalCloud(RUN).stop(),
        "the model server": stand_in_server(RUN, 0).stop(),
        "the tracker": tracker_server(RUN, 0).stop(),
    }
    forget_stack(STACK_FILE)
    return [name for name, did_run in ran.items() if did_run]


def main() -> None:
    """Stop, and say what ended."""
    ended = stop()
    print(f"stopped: {', '.join(ended)}" if ended else "nothing was running")


if __name__ == "__main__":
    main()
