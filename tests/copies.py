"""Databases that many tests begin with: made once a process, then copied."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_MADE: dict[Callable[[str], object], tuple[bytes, object]] = {}


def made_once(url: str, make: Callable[[str], T]) -> T:
    """Return what `make(url)` returned; call it once for all SQLite files (it leaves them closed), else every time."""
    if not url.startswith("sqlite:///"):
        return make(url)
    path = Path(url.removeprefix("sqlite:///"))
    if make not in _MADE:
        made = make(url)
        _MADE[make] = path.read_bytes(), made
    else:
        path.write_bytes(_MADE[make][0])
    return _MADE[make][1]  # type: ignore[return-value]
