"""One suite, every store: in memory, on ministack, and on moto as far as moto goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.store import MemoryStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.conditions import ALL_CONDITIONS
from onceward.local.cloud import LocalCloud
from onceward.usecases.ports import Store
from tests.contract.job_store import JobStorePromises, OneThreadPromises, RacePromises, TokenPromises
from tests.contract.job_store.condition_cases import CASES
from tests.contract.job_store.races import RIVALS
from tests.support.emulators import dynamodb_at, make_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

# What moto 5.2 does not keep, as measured; ministack and AWS do.
NOT_KEPT_BY_MOTO = {
    TokenPromises: "ClientRequestToken is ignored: a repeated transaction is applied twice, other contents pass",
    RacePromises: "conditions are not atomic: two threads can win one conditional write",
}


@pytest.fixture(scope="module")
def ministack_client(ministack: LocalCloud) -> DynamoDBClient:
    """One client for all tests, as a warm function has it."""
    return dynamodb_at(ministack.endpoint_url)


@pytest.fixture(scope="class")
def moto_client(moto_aws: None) -> DynamoDBClient:
    """One client for all tests."""
    return dynamodb_at()


class TestMemoryStore(JobStorePromises):
    """All of it, on one event loop."""

    @pytest.fixture
    def store(self) -> Store:
        """An empty store."""
        return MemoryStore()

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Store:
        """One for all tests that ask for it."""
        return MemoryStore()


class TestDynamoStoreOnMinistack(JobStorePromises):
    """All of it, with as many threads as there are rivals."""

    @pytest.fixture
    def store(self, ministack_client: DynamoDBClient) -> Iterator[Store]:
        """New tables in an emulated account."""
        with ThreadRunner(RIVALS) as threads:
            yield DynamoStore(ministack_client, make_tables(ministack_client), threads, SystemClock(), SystemIds())

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, ministack_client: DynamoDBClient) -> Iterator[Store]:
        """One for all tests that ask for it."""
        with ThreadRunner(1) as threads:
            yield DynamoStore(ministack_client, make_tables(ministack_client), threads, SystemClock(), SystemIds())


class TestDynamoStoreOnMoto(OneThreadPromises):
    """What one thread can ask."""

    @pytest.fixture
    def store(self, moto_client: DynamoDBClient) -> Iterator[Store]:
        """New tables in this process."""
        with ThreadRunner(1) as threads:
            yield DynamoStore(moto_client, make_tables(moto_client), threads, SystemClock(), SystemIds())

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, moto_client: DynamoDBClient) -> Iterator[Store]:
        """One for all tests that ask for it."""
        with ThreadRunner(1) as threads:
            yield DynamoStore(moto_client, make_tables(moto_client), threads, SystemClock(), SystemIds())


def test_what_moto_is_not_asked_is_written_down() -> None:
    """Every promise is put to moto, or it is said why not."""
    asked = set(TestDynamoStoreOnMoto.__mro__) | set(NOT_KEPT_BY_MOTO)

    assert set(JobStorePromises.__mro__) - {JobStorePromises} <= asked


def test_cases_show_every_condition_both_ways() -> None:
    """A new condition without its cases is noticed."""
    shown = {(type(case.condition), case.holds) for case in CASES}

    assert {(condition, holds) for condition in ALL_CONDITIONS for holds in (True, False)} == shown
