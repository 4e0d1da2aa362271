"""The incident of ``docs/operations.md`` on the deployed stack: its commands are read from the page and run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.operator import Operator
from tests.scenarios.stack import PATIENCE_WITH_STARTS, DeployedStack
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
HEADING = "### An incident, from the unknown outcome to the statement\n"
ATTEMPTS = 3  # of text.generate
TENANT = TenantId("cyberdyne")  # nobody else's: its books are whole, from the first grant on


def commands() -> str:
    """The blocks of the section, one after the other."""
    section = PAGE.partition(HEADING)[2].partition("\n### ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks
    return "".join(blocks)


def run(script: str, file: Path, *, job: str = "", tenant: str = TENANT) -> str:
    """What the commands print; every one of them must end well."""
    shell = (
        f'set -eu -o pipefail\njob={job} tenant={tenant}\nonceward() {{ "{sys.executable}" -m onceward.cli "$@"; }}\n'
    )
    program = shell + script.replace(".local/stack.json", str(file))
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_s_incident_ends_with_one_charge_for_each_job(
    stack: DeployedStack, model: ModelServer, tmp_path: Path
) -> None:
    """Unknown outcome, review, resolve, redrive, statement: both jobs succeed in their second epoch, charged once."""
    witness, file = Witness(stack=stack, tenant=TENANT), Operator.of(stack, tmp_path).file
    run('onceward --stack .local/stack.json account grant "$tenant" 25 --key incident', file)
    model.behave(drop="reset", stage="after", text="<incident unknown>", times=1)
    model.behave(status=429, text="<incident exhausted>", times=ATTEMPTS)
    unknown = witness.created("text.generate", "<incident unknown>")
    exhausted = witness.created("text.generate", "<incident exhausted>")
    witness.when(unknown, lambda job: job.state is JobState.NEEDS_REVIEW, "it is in review")
    witness.when(exhausted, lambda job: job.state is JobState.FAILED and job.due is None, "it is exhausted, and told")

    told = run(commands(), file, job=unknown)
    for job_id in (unknown, exhausted):
        stack.ended(job_id, patience=PATIENCE_WITH_STARTS, tenant=TENANT)
    rows = [witness.row(job_id) for job_id in (unknown, exhausted)]

    assert [(row.state, row.epoch) for row in rows] == [(JobState.SUCCEEDED, 2)] * 2
    assert sorted(witness.entries(unknown)) == ["capture", "carry", "reserve"]
    assert sorted(witness.entries(exhausted)) == ["capture", "release", "reserve", "reserve"]
    assert witness.calls(unknown).requests == 2
    assert re.search(r"^reopened +1$", told, re.MULTILINE)
    assert_books_agree(witness.account)
