"""Recorded text as it may be drawn: literal, nothing hidden in it, never long.

Streamlit reads markdown in labels, captions, errors and metrics. Recorded text therefore goes to `st.text`, `st.code`
and `st.dataframe` alone, and through this module first.
"""

from datetime import UTC, datetime

from spectrace.audit.visible import one_line, shortened, visible
from spectrace.core.types import Action, Call, Finish, Reply

HEAD = 4_000
"""Characters of a text that are drawn; more of them belong into a download."""
_SECOND = 1_000_000


def block(text: str, limit: int = HEAD) -> str:
    """Return the beginning of a text, line breaks kept; a cut says how much is missing."""
    return visible(shortened(text, limit), lines=True)


def inline(text: str, limit: int = 240) -> str:
    """Return the beginning of a text on one line."""
    return one_line(shortened(text, limit))


def name_and_rest(action: Action) -> tuple[str, str]:
    """Return an action in two parts, what it is and what it says: `cancel_order`, `{"order_id": "W200"}`."""
    match action:
        case Call(tool, arguments):
            return inline(tool, 80), block(arguments, 800)
        case Reply(text):
            return "reply", block(text, 800)
        case Finish(text):
            return "finish", block(text, 800)


def moment(at: int) -> datetime | None:
    """Return a recorded time; None where it is none that a calendar has."""
    try:
        return datetime.fromtimestamp(at / _SECOND, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def clock(at: int) -> str:
    """Return a recorded time as text, UTC, to the millisecond."""
    then = moment(at)
    return f"{at} µs" if then is None else f"{then:%Y-%m-%d %H:%M:%S}.{then.microsecond // 1000:03d} UTC"


def duration(microseconds: int) -> str:
    """Return a duration as people say it: 740 ms, 8.2 s, 3 min 20 s."""
    seconds = microseconds / _SECOND
    if seconds < 1:
        return f"{microseconds // 1000} ms"
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s"
