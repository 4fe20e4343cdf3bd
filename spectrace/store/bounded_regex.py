"""A user's regular expression, searched for in a process of its own that is stopped when one text takes too long.

An expression like `(a+)+$` takes time that doubles with every letter, on text that somebody else wrote. Nothing in this
process can stop such a search on every system, so a child does it, which knows nothing but the expression and the text.
"""

import struct
import subprocess
import sys
import threading
import weakref
from contextlib import suppress

from spectrace.errors import StoreError, UsageError

LIMIT_S = 5.0
"""For one text."""
_S_PER_BYTE = 1e-6
"""More for a long one, which an honest expression may need as well."""
_FOUND, _NOT = b"1", b"0"

_WORKER = """
import re, struct, sys
read, write, flush = sys.stdin.buffer.read, sys.stdout.buffer.write, sys.stdout.buffer.flush
def text():
    size = read(8)
    return read(struct.unpack("<Q", size)[0]).decode("utf-8", "surrogatepass") if size else None
pattern = re.compile(text(), int(sys.argv[1]))
while (one := text()) is not None:
    write(b"1" if pattern.search(one) else b"0")
    flush()
"""


class BoundedRegex:
    """One expression; its process begins with the first text and ends with this object."""

    def __init__(self, expression: str, flags: int, *, limit_s: float | None = None) -> None:
        """Take an expression that compiles."""
        self._expression, self._flags = expression, flags
        self._limit_s = LIMIT_S if limit_s is None else limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def found(self, text: str) -> bool:
        """Whether it is found in a text; raise UsageError where that takes too long to tell."""
        data = text.encode("utf-8", "surrogatepass")
        limit_s = self._limit_s + len(data) * _S_PER_BYTE
        process, late = self._started(), threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, stop)
        timer.start()
        try:
            answer = _asked(process, data)
        except BaseException:  # Ctrl-C: its answer would be taken for the next text's
            self._process = None
            raise
        finally:
            timer.cancel()
        if answer in (_FOUND, _NOT):
            return answer == _FOUND
        self._process = None
        if late.is_set():
            raise UsageError(
                f"--matching {self._expression[:80]!r} was stopped after {limit_s:.1f} s on one text of {len(text):,} "
                "characters: it repeats what repeats, as (a+)+ does, so its time doubles with every character. The "
                "search stopped there. Say it without a repetition inside a repetition, or give the text itself."
            )
        raise StoreError("the process that searches for --matching ended by itself; run the command again.")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-I", "-c", _WORKER, str(int(self._flags))]
            process = subprocess.Popen(  # noqa: S603 - this interpreter, our own text
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            weakref.finalize(self, _end, process)
            self._process = process
            _send(process, self._expression.encode("utf-8", "surrogatepass"))
        return self._process


def _asked(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    try:
        _send(process, data)
    except BrokenPipeError:
        return b""
    return process.stdout.read(1) if process.stdout is not None else b""


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    if process.stdin is not None:
        process.stdin.write(struct.pack("<Q", len(data)) + data)
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):  # what it was not sent any more
                pipe.close()
