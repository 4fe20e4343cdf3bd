"""What the words of a report mean, for a reader who knows nothing else: outcomes, authorities, results."""

from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN

OUTCOME = {
    "ok": "It was sent, and the environment answered.",
    "error": "It was sent, and the environment answered with an error.",
    "indeterminate": "It was sent, and no result is recorded: it may have happened.",
    "never": "It was drafted and never sent.",
}
AUTHORITY = {
    "verdict": "The strong model had accepted this very step.",
    "repair": "The strong model's own step, in place of one that it rejected.",
    "actor": "A protocol without reviews: the one model that acts, acted.",
    "read": "Declared to change nothing, and run at once.",
    "reply": "A reply, which the options let go out without a verdict.",
    "unreviewed": "It ran without a verdict: nobody had looked at it.",
    "speculative": "It ran on a guess, before anybody proposed it.",
    "person": "A person put their word in place of a model's.",
    "unknown": "The log does not say, as in what was imported from another program.",
    "none": "The log names none.",
}
EFFECT_BY = {
    "declared": "by its author",
    "override": "by an operator",
    "default": "by nobody",
    "environment": "by its environment",
}
RESULT = {
    INVALID: "Not what was recorded, or not whole: the first bad event is named.",
    CONSISTENT: "Intact by its own account: every stored byte is the one that the chain was computed over. That is no "
    "proof against whoever could write the file: they could have rewritten it, chain and all.",
    "valid": "Equal to what a checkpoint says that was signed with the given key, up to the event that it covers.",
    UNKNOWN: "It cannot be told: it is of a newer version, or the checkpoint or its key does not fit.",
}
UNKNOWN_MEANS = {
    "indeterminate": "Ask the system that it was sent to; what is found can be added as a new fact (settle).",
    "interrupted": "What the agent did after the last event, if anything, is not in the log.",
    "running": "If nobody is writing it, its writer went away: `spectrace db check` names a row that cannot be.",
    "uncovered": "These events could have been rewritten by whoever can write the log, and nothing here would tell.",
    "erased": "What these events said cannot be judged any more; that they were there, and when, can.",
    "redacted": "The text was never recorded; the same placeholder is the same text.",
    "undeclared_effect": "It was held and reviewed as a write; it may have been a read.",
    "no_fingerprint": "Whether these writes did what they said has to be seen in the system itself.",
    "imported": "Neither order nor authority were observed: they are what the file says.",
    "unusable": "The reviewer's answer counted neither as yes nor as no.",
    "unknown_event": "A newer spectrace may know more of it than this page says.",
    "clock_skew": "Rely on the order of the events, not on their times.",
    "missing_blob": "The text is lost, and the episode does not verify.",
}
"""What follows for whoever reads the report, by kind of unknown."""
