"""Other processes that verify parts of a log, each with a store of its own, while this one goes on with the rest.

They are started with nothing but what verification imports (`multiprocessing` would run the program's main module in
each), and are given work once they say that they are ready. What they say is read by a thread each, which only waits.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, ParamSpec, Self, TypeVar, cast

from spectrace.audit.integrity import INVALID, Verifier, VerifyResult, whole_blobs
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.store import projected
from spectrace.store.database import Database, parse_url
from spectrace.store.log import BlobRange
from spectrace.store.names import is_episode_id
from spectrace.store.sql import SqlEventStore

P = ParamSpec("P")
T = TypeVar("T")
_LEAVE_S = 5
_START = (
    "import pickle, sys; sys.path[:], url = pickle.load(sys.stdin.buffer); "
    "from spectrace.audit.helpers import serve; serve(url)"
)
_LOST = (
    "a process that verified was killed, so nothing is known of the rest: is there memory enough? `--jobs 1` verifies "
    "in one process."
)


@dataclass(frozen=True, slots=True)
class Texts:
    """Check the blobs that lie here; the answer is the digests of the whole ones."""

    within: BlobRange


@dataclass(frozen=True, slots=True)
class Known:
    """Take blobs as whole from now on."""

    digests: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Episodes:
    """Verify episodes; the answer is their results."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Projections:
    """Compare what lists show of runs with their events; the answer is what differs, None for each that is as it is."""

    names: Sequence[str]


Task = Texts | Known | Episodes | Projections
Answer = list[bytes] | list[VerifyResult] | list[str | None]


class Worker:
    """Does tasks, in whatever process it is."""

    def __init__(self, store: SqlEventStore) -> None:
        """Read from `store`."""
        self._store = store
        self._verifier = Verifier(store)

    def do(self, task: Task) -> Answer:
        """Do a task."""
        match task:
            case Texts(within):
                return whole_blobs(self._store.log.small_blobs(within))
            case Known(digests):
                self._verifier.know(digests)
                return []
            case Episodes(names):
                return [self._verified(name) for name in names]
            case Projections(names):
                return [projected.differences(self._store, name) for name in names]

    def _verified(self, name: str) -> VerifyResult:
        try:
            return self._verifier.verify(name)
        except EpisodeNotFound:
            if is_episode_id(name):
                raise
            return VerifyResult(name, INVALID, 0, None, None, "its row holds this where an episode's id belongs")


class Helper:
    """A process that does tasks."""

    def __init__(self, url: str) -> None:
        """Start it; `ready` waits until it runs."""
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            # Isolated, so that nothing beside the user's own files is imported; then told where this process imports
            # from. The URL may hold a password, which an argument would show to everybody on the machine.
            [sys.executable, "-I", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process to heed
        )
        self._into = cast("IO[bytes]", self._process.stdin)
        self._from = cast("IO[bytes]", self._process.stdout)
        self._say((sys.path, url))

    def ready(self) -> None:
        """Wait until its store is open; raise StoreError where that fails."""
        self._hear()

    def ask(self, task: Task) -> Answer:
        """Have it do a task; raise what it raised, or StoreError if it is gone."""
        self._say(task)
        return self._hear()

    def leave(self) -> None:
        """Let it go, when it has done what it is at."""
        with suppress(OSError):  # it is gone already
            self._into.close()
        try:
            self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Close what it was heard through; nobody is listening any more."""
        self._from.close()

    def _say(self, said: object) -> None:
        try:
            pickle.dump(said, self._into)
            self._into.flush()
        except (OSError, ValueError) as error:  # its end is closed, or ours is
            raise StoreError(_LOST) from error

    def _hear(self) -> Answer:
        try:
            answer: Answer | Exception = pickle.load(self._from)  # noqa: S301 - from ourselves
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise StoreError(_LOST) from error
        if isinstance(answer, Exception):
            raise answer
        return answer


class Crew:
    """This process and its helpers."""

    def __init__(self, store: SqlEventStore, helpers: int) -> None:
        """Start so many helpers."""
        self._own = Worker(store)
        self._known = Known(())
        self._line: SimpleQueue[tuple[int, Task] | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[int, Answer | Exception]] = SimpleQueue()
        url = store.database.url.render_as_string(hide_password=False)
        self._helpers = [Helper(url) for _ in range(helpers)]
        self._threads = [threading.Thread(target=self._feed, args=(one,), daemon=True) for one in self._helpers]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        """Work together."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let the helpers go; what they are at, a fraction of a second's work, is waited for."""
        while self._taken() is not None:
            pass
        for _ in self._helpers:
            self._line.put(None)
        for helper in self._helpers:
            helper.leave()
        for thread in self._threads:
            thread.join()
        for helper in self._helpers:
            helper.close()

    def know(self, digests: Sequence[bytes]) -> None:
        """Tell everybody of blobs that are whole."""
        self._known = Known(digests)
        self._own.do(self._known)

    def done(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Do tasks together and yield their answers, in the order of the tasks."""
        answers: dict[int, Answer | Exception] = {}
        for numbered in enumerate(tasks):
            self._line.put(numbered)
        for number in range(len(tasks)):
            while number not in answers:
                if (taken := self._taken()) is not None:
                    answers[taken[0]] = _tried(self._own.do, taken[1])
                else:
                    other, answers[other] = self._done.get()
                self._collect(answers)
            answer = answers.pop(number)
            if isinstance(answer, Exception):
                raise answer
            yield answer

    def _collect(self, answers: dict[int, Answer | Exception]) -> None:
        while True:
            try:
                number, answers[number] = self._done.get_nowait()
            except Empty:
                return

    def _taken(self) -> tuple[int, Task] | None:
        try:
            return self._line.get_nowait()
        except Empty:
            return None

    def _feed(self, helper: Helper) -> None:
        """In a thread: give a helper one task after the other, what is known before the first that may need it."""
        known = Known(())
        broken: Answer | Exception | None = _tried(helper.ready)
        while (taken := self._line.get()) is not None:
            number, task = taken
            if isinstance(broken, Exception):
                self._done.put((number, broken))
                continue
            if self._known is not known:
                known = self._known
                broken = _tried(helper.ask, known)
            self._done.put((number, broken if isinstance(broken, Exception) else _tried(helper.ask, task)))


def _tried(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | Exception:
    """Return what came of some work, to be raised where its answer is waited for."""
    try:
        return work(*given, **named)
    except Exception as error:  # noqa: BLE001 - see above
        return error


def serve(url: str) -> None:
    """In a process that was started to help: say so, then do what is asked until nobody asks any more."""
    into = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is not for the one who reads there
    # Opened as it is: whoever started this process has looked at its revision already.
    store = SqlEventStore(Database(parse_url(url), read_only=True))
    worker = Worker(store)
    answer: Answer | Exception = []
    while True:
        pickle.dump(answer, into)
        into.flush()
        try:
            task: Task = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
        except EOFError:
            break
        answer = _tried(worker.do, task)
    store.close()
    os._exit(0)  # all is said and closed: taking the interpreter apart would take a tenth of a second
