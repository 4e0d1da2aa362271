"""Make the jobs queue and its dead letters, and feed the worker from it."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.config import StageConfig

DEAD_LETTERS_KEPT = cdk.Duration.days(14)  # SQS's longest: a person has to come by


class JobQueue(Construct):
    """A message is a wake-up: losing one delays a job until the sweeper, so the queue holds no state."""

    def __init__(self, scope: Construct, config: StageConfig) -> None:
        """Make both queues: TLS only, encrypted by keys that SQS owns."""
        super().__init__(scope, "Queue")
        self._config = config
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            retention_period=DEAD_LETTERS_KEPT,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        self.jobs = sqs.Queue(
            self,
            "Jobs",
            visibility_timeout=cdk.Duration.seconds(config.visibility_timeout_seconds),
            retention_period=cdk.Duration.days(config.queue_retention_days),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            # SQS's own move happens only when the handler never ran: the worker acknowledges three receives before.
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=config.max_receive_count),
        )

    def feed(self, worker: lambda_.Function) -> lambda_.EventSourceMapping:
        """Hand the worker batches; ``maximum_concurrency`` bounds its invocations and so the calls per provider.

        The mapping and not ``SqsEventSource``, which would grant the role what it thinks best.
        """
        return lambda_.EventSourceMapping(
            self,
            "Feed",
            target=worker,
            event_source_arn=self.jobs.queue_arn,
            batch_size=self._config.batch_size,
            max_batching_window=cdk.Duration.seconds(self._config.batching_window_seconds),
            max_concurrency=self._config.maximum_concurrency,
            report_batch_item_failures=True,
        )
