"""One fixed sentence for each code that a job may fail with, for its user. Never content.

What a document is refused for stands with its limits (``onceward.kinds.extract_document``); a code that a kind of your
own raises has no sentence here. ``tests/unit/test_sentences.py`` finds a code that lacks one.
"""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    # The job as a whole.
    "attempts_exhausted": "every attempt failed, or its workers were lost; the operator can redrive the job",
    "attempt_timeout": "an attempt took longer than the kind allows",
    "cancelled": "the job was cancelled",
    "deadline_exceeded": "the job's deadline came before its result",
    "document_gone": "a document of the input was deleted before it was read; upload it again",
    "flight_cancelled": "the work that this job shared was cancelled; submit the job again",
    "flight_failed": "the work that this job shared failed",
    "input_gone": "the job's input is not there any more",
    "invalid_output": "what came back was no answer of the shape that the kind needs",
    "review_expired": "nobody decided within the review's time what became of a call",
    "review_failed": "a person looked into it and ended the job",
    "spend_cap_reached": "one more call could have cost more than the kind may spend",
    "unknown_kind": "the service does not know the job's kind any more",
    # The kind's own code: the operator's to mend.
    "answer_gone": "an answer that was accepted before is not there any more",
    "bad_output_limit": "the kind asked for an answer of an impossible length",
    "bad_step_name": "the kind gave a step a name that is none",
    "call_changed": "the kind was changed while the job was under way; submit the job again",
    "job_failed": "the kind gave up, and gave no reason of its own",
    "kind_error": "the kind's code has a fault",
    "not_read_only": "a kind that shares its work may ask no outside target",
    "request_not_writable": "the kind made a request that cannot be written",
    "step_in_step": "the kind asked for a step within a step",
    "step_not_json": "a step of the kind made something that cannot be stored",
    "step_repeated": "the kind asked one step twice in an attempt",
    "step_too_large": "a step of the kind made more than can be stored",
    "too_many_steps": "the kind asked for more steps than a job may have",
    "unknown_target": "the kind asked a target that is not declared",
    # The model and its provider.
    "answer_too_large": "the answer was longer than is read",
    "batch_expired": "the provider did not come to it within its batch's time",
    "call_failed": "a call failed",
    "connection_lost": "the connection broke before an answer came",
    "content_filtered": "the provider's content filter refused it",
    "empty_answer": "the model answered nothing",
    "held_up": "the request was held up for too long to be sent",
    "malformed_output": "the model's answer is not of its agreed form",
    "model_not_found": "the provider has no such model",
    "model_refused": "the model refused to answer",
    "provider_answer_unknown": "the provider answered something that is not understood",
    "provider_auth": "the provider does not accept the service's key",
    "provider_cancelled": "the work was cancelled at the provider",
    "provider_error": "the provider failed",
    "provider_forbidden": "the provider does not let the service do this",
    "provider_gateway": "a gateway on the way to the provider failed",
    "provider_model_error": "the model failed while it worked",
    "provider_not_found": "the provider has nothing at the configured address",
    "provider_overloaded": "the provider is overloaded",
    "provider_quota_exhausted": "the service's quota at the provider is used up",
    "provider_redirects": "the provider's configured address leads elsewhere",
    "provider_refused_request": "the provider refused the request",
    "provider_timed_out": "the provider did not answer in time",
    "provider_unreachable": "the provider cannot be reached",
    "rate_limited": "too many requests at the moment",
    "request_too_large": "the request was larger than the provider takes",
    "truncated_output": "the answer was cut at its greatest length",
    "unfinished_answer": "the provider did not finish the answer",
    "unfinished_turn": "the model stopped before its answer was whole",
    # A declared target.
    "target_address_forbidden": "the target's address is none that requests may go to",
    "target_auth": "the target does not accept the service's credential",
    "target_conflict": "the target says that this conflicts with what is there",
    "target_error": "the target failed",
    "target_forbidden": "the target does not let the service do this",
    "target_redirects": "the target's address leads elsewhere",
    "target_refused": "the target refused the request",
    "target_request_invalid": "the request to the target cannot be made of these arguments",
    "target_timed_out": "the target did not answer in time",
    "target_unavailable": "the target is not available",
    "target_unreachable": "the target cannot be reached",
    "target_unresolved": "the target's name leads to no address",
}
