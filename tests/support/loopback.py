"""What differs for AWS clients that talk to an emulator on loopback, as a patch on the configuration of AWS."""

from botocore.config import Config

ON_LOOPBACK = Config(
    proxies={},  # the user's proxy has no part in what happens on loopback
    read_timeout=60,  # seconds: on a busy machine a slow answer must not be asked for twice, and act twice
    connect_timeout=10,
)
