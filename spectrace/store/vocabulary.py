"""Closed sets of words in stored events, which `schemas` turns into enumerations; `core` names them in its docstrings.

A set is closed here only where spectrace itself chooses the word. What a model, a server, an environment or a verifier
of the user's own says (kinds of failure, categories, roles of messages, reasons to end) stays text: to refuse the
record of a write because of an odd word would lose the very thing that a log is for. A closed set never grows within
a version: whoever reads it acts on each word, so a new word is a new version (see `upcasts`).
"""

from collections.abc import Mapping
from dataclasses import fields

from spectrace.core.events import MAX_SEQ, Totals
from spectrace.core.types import Effect, Role

Schema = dict[str, object]

DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71}
"""The length keeps out a final line break, which `$` lets pass in Python and not elsewhere."""


def one_of(*words: str) -> Schema:
    """Return the schema of a closed set."""
    return {"enum": list(words)}


def or_null(schema: Schema) -> Schema:
    """Return a schema that null fits too; one list of types is checked faster than a choice of schemas."""
    match schema:
        case {"type": str(kind), **rest} if not rest.keys() & {"enum", "const", "anyOf"}:
            return {"type": [kind, "null"], **rest}
        case {"type": [*kinds], **rest}:
            return {"type": [*kinds, "null"], **rest}
        case {"anyOf": [*choices]} if len(schema) == 1:
            return {"anyOf": [*choices, {"type": "null"}]}
        case _:
            return {"anyOf": [schema, {"type": "null"}]}


COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
SEQ: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_SEQ}

AUTHORITY: Schema = {
    "description": "verdict:SEQ and repair:SEQ name an earlier event; a digest stands for a name that is in the body.",
    "type": "string",
    "anyOf": [
        {"enum": ["actor", "read", "reply", "unreviewed", "speculative", "unknown"]},
        {"pattern": "^(?:verdict|repair):(?:0|[1-9][0-9]{0,6})$", "not": {"pattern": "[\\n]"}},
        {"pattern": "^person:[\\s\\S]"},
        {"pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71},
    ],
}

EVERYWHERE: Mapping[str, Schema] = {
    "authority": AUTHORITY,
    "effect": one_of(*Effect),
    "request": SEQ,
    "requestor": one_of("agent", "user"),
    "role": one_of(*Role),
    "segment": COUNT,
    "source": one_of("live", "record", "cache", "edited", "import"),
    "who": one_of("weak", "strong", "user", "judge"),
}
"""Field of any event of a run, in body or header -> what it may hold."""

BY_TYPE: Mapping[tuple[str, str], Schema] = {
    ("act.completed", "outcome"): one_of("ok", "error"),
    ("act.failed", "outcome"): one_of("error", "indeterminate"),
    ("action.held", "index"): COUNT,
    ("admin.begun", "what"): one_of("copied", "imported", "unpacked"),
    ("admin.erased", "blobs"): COUNT,
    ("admin.erased", "how"): one_of("named", "matching", "before", "retention"),
    ("admin.key_changed", "what"): one_of("checkpoint", "redaction"),
    ("admin.opened", "reason"): one_of("created", "upgraded", "restored", "copied", "unpacked"),
    ("control.passed", "reason"): one_of("planned", "stagnation", "budget_spent", "progress"),
    ("control.passed", "steps"): or_null(COUNT),
    ("control.passed", "to"): one_of("weak", "strong"),
    ("episode.ended", "outcome"): one_of("completed", "truncated", "failed", "interrupted"),
    ("episode.started", "concurrency"): or_null(COUNT),
    ("episode.started", "task_digest"): DIGEST,
    ("episode.started", "tools_digest"): DIGEST,
    ("generate.requested", "tools_digest"): or_null(DIGEST),
    ("outcome.settled", "outcome"): one_of("ok", "error", "never"),
    ("progress.judged", "failures"): COUNT,
    ("progress.judged", "outcome"): one_of("progress", "stagnation", "unusable"),
    ("progress.judged", "who"): one_of("weak", "strong"),
    ("repair.made", "kind"): one_of("fused", "corrective"),
    ("repair.made", "verdict"): or_null(SEQ),
    ("reply.unusable", "next"): one_of("asked_again", "gave_up", "tolerated"),
    ("segment.closed", "dropped"): COUNT,
    ("segment.closed", "steps"): COUNT,
    ("segment.closed", "reason"): one_of(
        "held", "k_reads", "reply", "finish", "stalled", "unusable_draft", "effect_observed", "budget", "failed"
    ),
    ("segment.committed", "end"): COUNT,
    ("segment.committed", "reviewed"): one_of("yes", "no", "not_applicable"),
    ("segment.committed", "start"): COUNT,
    ("speculation.matched", "guess"): SEQ,
    ("step.drafted", "index"): COUNT,
    ("step.speculated", "index"): COUNT,
    ("steps.discarded", "end"): COUNT,
    ("steps.discarded", "reason"): one_of(
        "rejected", "unusable", "after_error", "after_held", "speculation_lost", "budget", "failed"
    ),
    ("steps.discarded", "start"): COUNT,
    ("tools.changed", "tools_digest"): DIGEST,
    ("verdict.given", "accepted"): COUNT,
    ("verdict.given", "drafted"): COUNT,
    ("verdict.given", "outcome"): one_of("accept", "reject", "unusable"),
    ("verdict.given", "review"): or_null(SEQ),
    ("verdict.given", "status"): one_of("ok", "repaired", "unusable"),
}
"""(type, field) -> what it may hold."""

BY_CLASS: Mapping[tuple[str, str], Schema] = {
    ("ErasedRange", "first"): SEQ,
    ("ErasedRange", "last"): SEQ,
    ("ModelFacts", "calls"): one_of("json", "native"),
    ("Parent", "kind"): one_of("fork", "reverify", "resume"),
    ("Parent", "seq"): or_null(SEQ),
    **{("Totals", field.name): COUNT for field in fields(Totals)},
}
"""(class of a value inside a body, field) -> what it may hold."""
