"""The promises of the ``Store`` port, told once: every store is asked the same questions."""

from tests.contract.job_store.accounts import AccountPromises
from tests.contract.job_store.breakers import BreakerPromises
from tests.contract.job_store.conditions import ConditionPromises
from tests.contract.job_store.flights import FlightPromises
from tests.contract.job_store.indexes import DuePromises, ListPromises
from tests.contract.job_store.items import ItemPromises
from tests.contract.job_store.races import RacePromises
from tests.contract.job_store.rows import RowPromises
from tests.contract.job_store.switches import SwitchPromises
from tests.contract.job_store.tallies import TallyPromises
from tests.contract.job_store.transactions import TokenPromises, TransactionPromises

__all__ = ["JobStorePromises", "OneThreadPromises", "RacePromises", "TokenPromises"]


class OneThreadPromises(
    RowPromises,
    ConditionPromises,
    TransactionPromises,
    ItemPromises,
    DuePromises,
    ListPromises,
    AccountPromises,
    TallyPromises,
    SwitchPromises,
    FlightPromises,
    BreakerPromises,
):
    """What can be asked by one writer after the other, without lost answers."""


class JobStorePromises(OneThreadPromises, TokenPromises, RacePromises):
    """All that a store promises."""
