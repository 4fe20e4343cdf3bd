"""Things that spring when they are touched, and episodes that name them wherever an episode names anything.

A module that leaves a trace when imported, a file that nobody may open, a server that counts who comes, a command that
would make a file. `tests/watched.py` sees the rest.
"""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from spectrace.core.episode_events import Origin
from spectrace.core.events import EpisodeStarted, Event, GenerateRequested
from spectrace.core.types import ModelFacts, Task

MODULE = "planted_module"


@dataclass
class Planted:
    """All of it, in one folder that is on `sys.path`."""

    folder: Path
    port: int
    came: list[object] = field(default_factory=list)
    """Who connected."""

    @property
    def file(self) -> Path:
        """A file that a model, labels or prompts could be read from."""
        return self.folder / "planted.json"

    @property
    def traces(self) -> list[str]:
        """What was imported or run."""
        return sorted(path.name for path in (self.folder / "traces").iterdir())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def texts(self) -> dict[str, str]:
        """Return what a recording may name them by."""
        run = f"touch {self.folder}/traces/ran"
        return {
            "function": f"{MODULE}:environment",
            "file": str(self.file),
            "script": f"scripted:{self.file}",
            "address": self.url,
            "server": f"sglang:planted@{self.url}",
            "command": f"; {run} # $({run})`{run}` __import__('{MODULE}') {{{{ ''.__class__ }}}}%(x)s{{0}}",
        }


@contextmanager
def planted(folder: Path) -> Iterator[Planted]:
    """Lay everything out and listen."""
    (folder / "traces").mkdir(parents=True)
    (folder / f"{MODULE}.py").write_text(
        "from pathlib import Path\n"
        "(Path(__file__).parent / 'traces' / 'imported').touch()\n"
        "from spectrace.environments.shop import open_shop as environment\n"
        "def judge(request):\n    raise RuntimeError('asked')\n"
    )
    (folder / "planted.json").write_text('{"replies": []}')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = Planted(folder, listening.getsockname()[1])
        listening.settimeout(0.1)
        ended = threading.Event()
        waiting = threading.Thread(target=_count, args=(listening, ended, found.came))
        waiting.start()
        try:
            yield found
        finally:
            ended.set()
            waiting.join()


def _count(listening: socket.socket, ended: threading.Event, came: list[object]) -> None:
    while not ended.is_set():
        try:
            connection, who = listening.accept()
        except TimeoutError:
            continue
        came.append(who)
        connection.close()


def naming(events: Sequence[Event], text: str, environment: str, *, imported: bool = False) -> list[Event]:
    """Return an episode whose questions stay as they were, with a text wherever its start may name anything."""
    said = json.dumps(dict.fromkeys(("url", "path", "file", "module", "command", "env", "server"), text))
    started = events[0].body
    assert isinstance(started, EpisodeStarted)
    models = tuple(
        ModelFacts(one.role, text, text, url=text, parameters=said, server=said, price=None) for one in started.models
    )
    body = replace(
        started,
        project=text,
        labels=((text, text),),
        operator=text,
        task=Task(started.task.id, started.task.request, said),
        environment=replace(
            started.environment, name=environment, package=text, version=text, restore="reset", data=((text, text),)
        ),
        models=models,
        run=text,
        origin=Origin(text, text, text, text) if imported else None,
    )
    rest = [
        replace(one, body=replace(one.body, parameters=said)) if isinstance(one.body, GenerateRequested) else one
        for one in events[1:]
    ]
    return [replace(events[0], body=body), *rest]
