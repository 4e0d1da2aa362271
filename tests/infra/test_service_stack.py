"""The service stack: functions, queues, event source and schedule."""

import math

import pytest

from infra.config import StageConfig
from tests.infra.templates import Assembly, Template, function, only, properties, resources

FUNCTIONS = ("Api", "Worker", "Sweeper", "TenantToken")
DAY = 86_400


def test_all_functions_are_one_asset_without_layers(service: Template) -> None:
    """One build, one hash: functions differ by their handler's name."""
    functions = [function(service, name) for name in FUNCTIONS]

    assert len(functions) == len(resources(service, "AWS::Lambda::Function"))
    assert len({each["Code"]["S3Key"] for each in functions}) == 1
    assert not any("Layers" in each for each in functions)
    assert {("python3.13", "arm64")} == {(each["Runtime"], *each["Architectures"]) for each in functions}


def test_functions_log_json_into_groups_of_ours(service: Template) -> None:
    """Each names its own group, and every group forgets."""
    groups = [function(service, name)["LoggingConfig"] for name in FUNCTIONS]

    assert {"JSON"} == {group["LogFormat"] for group in groups}
    assert len(FUNCTIONS) == len({group["LogGroup"]["Ref"] for group in groups})
    assert {30} == {group["RetentionInDays"] for group in properties(service, "AWS::Logs::LogGroup")}


def test_timeouts_fit_what_waits_for_them(service: Template) -> None:
    """The gateway hangs up at 30 s, Cognito at 5 s, the next pass comes after 60 s, Lambda ends at 900 s."""
    assert {name: function(service, name)["Timeout"] for name in FUNCTIONS} == {
        "Api": 29,
        "Worker": 900,
        "Sweeper": 55,
        "TenantToken": 5,
    }


def test_a_message_stays_hidden_longer_than_the_worker_can_run(service: Template) -> None:
    """AWS asks for six times the function's timeout plus the batching window."""
    jobs = only(service, "AWS::SQS::Queue", "Jobs")
    window = only(service, "AWS::Lambda::EventSourceMapping")["MaximumBatchingWindowInSeconds"]

    assert jobs["VisibilityTimeout"] == 6 * function(service, "Worker")["Timeout"] + window


def test_dead_letters_outlive_the_queue_that_sends_them(service: Template) -> None:
    """SQS counts a moved message's age from its first day, so the dead letters' retention must be the longer."""
    jobs, dead = only(service, "AWS::SQS::Queue", "Jobs"), only(service, "AWS::SQS::Queue", "DeadLetters")

    assert dead["MessageRetentionPeriod"] == 14 * DAY
    assert jobs["MessageRetentionPeriod"] == 4 * DAY
    assert jobs["RedrivePolicy"]["maxReceiveCount"] == StageConfig().max_receive_count
    assert jobs["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0].startswith("QueueDeadLetters")
    assert "RedrivePolicy" not in dead


def test_queues_are_encrypted_and_tls_only(service: Template) -> None:
    """Both queues refuse whoever does not come over TLS."""
    refusing = [
        policy["Queues"][0]["Ref"]
        for policy in properties(service, "AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if (statement["Effect"], statement["Action"], statement.get("Condition"))
        == ("Deny", "sqs:*", {"Bool": {"aws:SecureTransport": "false"}})
    ]

    assert sorted(resources(service, "AWS::SQS::Queue")) == sorted(refusing)
    assert {True} == {queue["SqsManagedSseEnabled"] for queue in properties(service, "AWS::SQS::Queue")}


def test_the_worker_is_fed_in_batches_that_may_fail_in_part(service: Template) -> None:
    """The mapping carries the parameters; its concurrency bounds the calls per provider."""
    mapping = only(service, "AWS::Lambda::EventSourceMapping")

    assert mapping["FunctionName"]["Ref"].startswith("WorkerFunction")
    assert mapping["EventSourceArn"]["Fn::GetAtt"][0].startswith("QueueJobs")
    assert (mapping["BatchSize"], mapping["MaximumBatchingWindowInSeconds"]) == (10, 0)
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 10}


def test_the_sweeper_runs_every_minute_unless_switched_off(assembly: Assembly) -> None:
    """A missed pass is not made up for: the next one finds the same jobs."""
    rule = only(assembly.service("dev"), "AWS::Events::Rule")
    (target,) = rule["Targets"]

    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    assert target["Arn"]["Fn::GetAtt"][0].startswith("SweeperFunction")
    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}
    invocations = only(assembly.service("dev"), "AWS::Lambda::EventInvokeConfig")
    assert (invocations["MaximumRetryAttempts"], invocations["MaximumEventAgeInSeconds"]) == (0, 60)
    assert not resources(assembly.service("test"), "AWS::Events::Rule")


def test_every_promised_output_is_there(assembly: Assembly) -> None:
    """The local cloud, the CLI and operators find the parts by these names."""
    expected = {
        *("ApiUrl", "ApiId", "JobsQueueUrl", "DeadLettersQueueUrl"),
        *("ApiFunction", "WorkerFunction", "SweeperFunction"),
        *("UserPoolId", "UserPoolDomain", "TokenUrl", "UsersClientId"),
        *("ClientAcmeId", "ClientGlobexId", "ClientOperatorId"),
    }

    assert expected == set(assembly.service("local")["Outputs"])
    assert {"JobsTable", "AccountsTable", "Bucket", "ModelSecretArn"} <= set(assembly.state("local")["Outputs"])


@pytest.mark.failure_mode("F35")
def test_lease_times_leave_room_for_one_lost_heartbeat() -> None:
    """Defaults: two heartbeats and the clock's error fit into a lease."""
    config = StageConfig()

    assert math.floor(config.lease_seconds / config.heartbeat_seconds) >= 2
    assert 2 * config.heartbeat_seconds + config.skew_allowance_seconds < config.lease_seconds
