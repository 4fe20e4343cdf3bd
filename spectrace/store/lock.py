"""The lock beside a SQLite file that every writing process takes in turn.

On Unix it is flock(2) on a descriptor kept open: 3 us a turn, where the `filelock` package takes 110 us (measured,
4.3.1), which is more than a whole commit. On Windows it is `filelock`. The system lets go of it when a process dies.
"""

import os
import sys
import time
from pathlib import Path
from types import TracebackType

from spectrace.store import private

_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.02

if sys.platform == "win32":
    from filelock import FileLock

    class TurnLock(FileLock):
        """Held by at most one process on the machine; the owner keeps its own threads apart and may nest."""

        def __init__(self, path: Path, timeout_s: float) -> None:
            """Name the file."""
            super().__init__(path, timeout=timeout_s, thread_local=False)

        def acquire_now(self) -> bool:
            """Take the turn if nobody has it; say whether."""
            try:
                self.acquire(timeout=0)
            except OSError:
                return False
            return True

        def close(self) -> None:
            """Give up whatever is held."""
            self.release(force=True)

        def abandon(self) -> None:
            """Do nothing: Windows does not fork."""

else:
    import fcntl

    class TurnLock:
        """Held by at most one open descriptor on the machine; the owner keeps its own threads apart and may nest."""

        def __init__(self, path: Path, timeout_s: float) -> None:
            """Name the file; it is made at the first use and never removed."""
            self._path = path
            self._timeout_s = timeout_s
            self._depth = 0
            self._descriptor = -1
            self._pid = -1

        def __enter__(self) -> None:
            """Wait for the turn; raise OSError when it does not come in time."""
            if self._depth == 0:
                self._acquire()
            self._depth += 1

        def acquire_now(self) -> bool:
            """Take the turn if nobody has it; say whether. `release` gives it back."""
            if self._depth == 0 and not self._try():
                return False
            self._depth += 1
            return True

        def release(self) -> None:
            """Give the turn back."""
            self.__exit__(None, None, None)

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            """Give the turn back."""
            self._depth -= 1
            if self._depth == 0:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

        def close(self) -> None:
            """Close the descriptor; the lock can be taken again later."""
            if self._descriptor >= 0 and self._pid == os.getpid():
                os.close(self._descriptor)
            self._descriptor = -1

        def abandon(self) -> None:
            """In a forked child: close the inherited descriptor, or a turn would outlive the parent that holds it."""
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor, self._depth = -1, 0

        def _acquire(self) -> None:
            deadline, pause = time.monotonic() + self._timeout_s, _FIRST_PAUSE_S
            while not self._try():
                if time.monotonic() > deadline:
                    msg = f"the lock {self._path} could not be acquired"
                    raise OSError(msg)
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)

        def _try(self) -> bool:
            if self._descriptor < 0 or self._pid != os.getpid():  # after a fork the descriptor is the parent's turn
                of = self._path.with_suffix("")
                self._pid, self._descriptor = os.getpid(), private.opened(self._path, like=of)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if self._is_current():
                return True
            self.close()  # the file was removed or replaced: others lock another one by now
            return self._try()

        def _is_current(self) -> bool:
            try:
                named = os.stat(self._path)  # noqa: PTH116 - asked at every append
            except FileNotFoundError:
                return False
            return os.path.samestat(named, os.fstat(self._descriptor))
