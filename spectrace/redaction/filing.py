"""Names that episodes are filed under and found by: a project, a run, a task's id. One that holds a secret is refused.

Such a name travels in rows, headers and file names, a placeholder there would file an episode where nobody looks for
it, and no erasure reaches it. So it is refused before anything is recorded; labels, which only describe, are redacted.
"""

from collections.abc import Mapping

from spectrace.errors import UsageError
from spectrace.redaction.detector import Detector
from spectrace.redaction.rules import Rules

_HIDDEN = "***"


def require_plain(rules: Rules, names: Mapping[str, str | None]) -> None:
    """Raise UsageError for the first name (what it is -> the name) that holds a secret by these rules."""
    if not rules.enabled:
        return
    detector = Detector(rules)
    for what, name in names.items():
        found = detector.find(name) if name else []
        if not name or not found:
            continue
        parts, at = [], 0
        for one in found:
            parts += [name[at : one.start], _HIDDEN]
            at = one.end
        shown = "".join((*parts, name[at:]))
        why = ", ".join(dict.fromkeys(one.why for one in found))
        raise UsageError(
            f"{what} {shown!r} holds what looks like a secret ({why}); expected a plain name, since it is recorded as "
            "it is and cannot be erased. Nothing was recorded. Choose another, or, if it is no secret, name what is "
            "hidden here in [redaction] allow of spectrace.toml."
        )
