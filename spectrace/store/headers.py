"""The headers of one episode's events, written fast: most differ from an earlier one in number and time only.

So what names an event (lane, type, version, and the four lifted fields) is checked against the schema and turned into
JSON once; after that a header is two numbers between bytes that are there already. Tests compare with `header_bytes`.
"""

from spectrace.core.digest import checked_canonical
from spectrace.core.events import Body
from spectrace.store.codec import Lifted
from spectrace.store.validation import body_fits, check

REMEMBERED = 4096
"""Kinds of headers that an episode remembers; each verdict makes one of its own, as an authority."""
_MAX_TIME = 2**53


class Headers:
    """Counterpart of an episode's chain."""

    def __init__(self, episode: str) -> None:
        """Start an episode."""
        self._episode = episode
        self._begin = b"[" + checked_canonical(episode) + b","
        self._met: dict[tuple[str, type[Body], Lifted], tuple[bytes, bytes]] = {}

    def checked(self, seq: int, lane: str, cls: type[Body], at: int, lifted: Lifted, value: object) -> bytes:  # noqa: PLR0913 - a header and its body
        """Return the canonical header of an event with this body; raise SchemaViolation where either does not fit."""
        met = self._met.get((lane, cls, lifted))
        usual = at.__class__ is int and -_MAX_TIME < at < _MAX_TIME and body_fits(cls.TYPE, cls.VERSION, value)
        if met is None or not usual:
            check(cls.TYPE, cls.VERSION, [self._episode, seq, lane, cls.TYPE, cls.VERSION, at, *lifted], value)
            met = self._remember(lane, cls, lifted)
        return b"%b%d%b%d%b" % (self._begin, seq, met[0], at, met[1])

    def _remember(self, lane: str, cls: type[Body], lifted: Lifted) -> tuple[bytes, bytes]:
        if len(self._met) >= REMEMBERED:
            self._met.clear()
        middle = checked_canonical([lane, cls.TYPE, cls.VERSION])[1:-1]
        end = checked_canonical(list(lifted))[1:]
        made = self._met[lane, cls, lifted] = (b",%b," % middle, b",%b" % end)
        return made
