"""What templates did to other people's queues and tables, each told by its case's id."""

from __future__ import annotations

import pytest

from infra.config import VISIBILITY_FACTOR, StageConfig
from onceward.domain.due import SHARDS, all_shards, shard_of
from onceward.domain.names import JobId
from onceward.domain.policy import MOST_ATTEMPTS
from onceward.domain.states import JobState
from tests.infra.templates import Assembly, Template, function, only, properties

SENT_COUNTS = {"NumberOfMessagesSent", "NumberOfMessagesReceived"}
TELLING = {"ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"}


def queue(template: Template, name: str) -> dict[str, object]:
    """A queue's properties by the end of its logical id."""
    return dict(only(template, "AWS::SQS::Queue", name))


@pytest.mark.failure_mode("F48")
def test_throttled_receives_do_not_bury_jobs(service: Template) -> None:
    """SQS-01: the event source itself is bounded, nothing is reserved, and there are receives to spare."""
    (mapping,) = properties(service, "AWS::Lambda::EventSourceMapping")
    receives = queue(service, "QueueJobs")["RedrivePolicy"]["maxReceiveCount"]  # type: ignore[index]

    assert mapping["ScalingConfig"]["MaximumConcurrency"] >= 2
    assert "ReservedConcurrentExecutions" not in function(service, "Worker")
    assert receives >= 2 * MOST_ATTEMPTS + 10


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_no_alarm_counts_messages_that_were_sent(assembly: Assembly, stage: str) -> None:
    """SQS-02: a message that SQS moves is not counted as sent; whoever watches a queue looks at what is in it."""
    alarms = [*properties(assembly.observability(stage), "AWS::CloudWatch::Alarm")]
    watched = {alarm["MetricName"] for alarm in alarms if alarm["Namespace"] == "AWS/SQS"}

    assert not watched & SENT_COUNTS
    assert watched == TELLING


@pytest.mark.failure_mode("F52")
def test_message_is_hidden_six_times_as_long_as_a_worker_can_run(service: Template) -> None:
    """SQS-04: AWS's own advice, for receives that Lambda throttles."""
    hidden = queue(service, "QueueJobs")["VisibilityTimeout"]

    assert VISIBILITY_FACTOR == 6
    assert hidden == 6 * function(service, "Worker")["Timeout"] + StageConfig().batching_window_seconds


@pytest.mark.failure_mode("F76")
def test_no_index_gathers_all_tenants_jobs_under_one_state(state: Template) -> None:
    """SQS-31: no partition key is a state; what is due is spread over shards, by job."""
    (table,) = [one for one in properties(state, "AWS::DynamoDB::GlobalTable") if one.get("GlobalSecondaryIndexes")]
    hashed = {
        key["AttributeName"]
        for index in table["GlobalSecondaryIndexes"]
        for key in index["KeySchema"]
        if key["KeyType"] == "HASH"
    }
    jobs = [JobId(f"{number:026d}-ABCDEFGH") for number in range(2_000)]
    counts = [sum(shard_of(job, JobState.QUEUED) == shard for job in jobs) for shard in all_shards()[:SHARDS]]

    assert hashed == {"due_shard", "tenant_id"}
    assert max(counts) < 3 * 2_000 / SHARDS


def test_dead_letters_are_the_queue_s_and_not_the_function_s(service: Template) -> None:
    """SQS-37: a function's own dead-letter target is for asynchronous calls; SQS's messages never go there."""
    policy = queue(service, "QueueJobs")["RedrivePolicy"]

    assert "DeadLetters" in str(policy)
    assert "DeadLetterConfig" not in function(service, "Worker")


@pytest.mark.failure_mode("F56")
def test_dead_letters_are_kept_longer_than_the_queue_s_messages(service: Template) -> None:
    """SQS-42: a moved message keeps its age: with less room it would vanish right after it was buried."""
    kept = {name: queue(service, name)["MessageRetentionPeriod"] for name in ("QueueJobs", "QueueDeadLetters")}

    assert kept["QueueDeadLetters"] == 14 * 86_400
    assert kept["QueueJobs"] < kept["QueueDeadLetters"]  # type: ignore[operator]
