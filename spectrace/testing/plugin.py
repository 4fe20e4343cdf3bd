"""pytest's side: a test of an agent runs against its recording. Counterpart of `recordings`, which does the work.

    @pytest.mark.spectrace(recording="cancel.zip")  # else recordings/FILE/TEST.zip beside the test's file
    def test_the_order_is_cancelled(spectrace_replay):
        run = spectrace_replay("cancel-own", "shop", weak="sglang:small@URL", strong="sglang:large@URL")

        assert run.outcome.reward == "1.0"

`pytest --spectrace-record` runs the agents live and records them; without it no model and no environment is reached.
pytest imports this module at every start, so it imports nothing of spectrace before a test asks for the fixture. It and
`spectrace` hold no assertion to be rewritten (PYTEST_DONT_REWRITE): pytest would warn where they were imported before.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from spectrace.testing.recordings import Runs

MARK, FIXTURE, OPTION = "spectrace", "spectrace_replay", "--spectrace-record"
_LONGEST = 80
_PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to record."""
    parser.getgroup("spectrace", "recorded agents").addoption(
        OPTION,
        action="store_true",
        help="Run the agents of tests with spectrace_replay live, and record them anew where the test passes.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    text = f"{MARK}(recording=PATH): the recording that {FIXTURE} replays, beside the test's file."
    config.addinivalue_line("markers", text)


@pytest.fixture
def spectrace_replay(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Runs]":
    """Run an agent as `spectrace.run` does: replayed from the test's recording, live with --spectrace-record."""
    from spectrace.testing.recordings import Mismatch, Recording, Replaying, Runs  # noqa: PLC0415 - see above

    class Failing(Runs):
        """Says a mismatch as the test's failure, without the traceback that leads to it."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().__call__(*args, **kwargs)
            except Mismatch as mismatch:
                said = str(mismatch)
            pytest.fail(said, pytrace=False)  # out of the handler, or pytest shows both

    item, path = request.node, placed(request.node)
    source: Recording | Replaying
    if request.config.getoption(OPTION):
        source = Recording(path, named(item), tmp_path_factory.mktemp("spectrace") / "log.db")
    else:
        source = Replaying(path, named(item))
    yield Failing(source)
    said = ""
    try:
        source.end(passed=item.stash.get(_PASSED, False))
    except Mismatch as mismatch:
        said = str(mismatch)
    if said:
        pytest.fail(said, pytrace=False)
    if isinstance(source, Recording) and source.episodes:
        what = f"recorded {path}" if source.kept else f"not recorded, the test failed; its run: {source.database}"
        # What is said of a test in its properties comes back from xdist's workers too.
        item.user_properties.append((MARK, f"{item.nodeid}: {what}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Keep whether a test passed, for the fixture's end."""
    outcome: Any = yield
    if FIXTURE in getattr(item, "fixturenames", ()) and outcome.excinfo is None:
        report = outcome.get_result()
        if report.when == "call":
            item.stash[_PASSED] = report.passed


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was recorded."""
    reports = [one for several in terminalreporter.stats.values() for one in several]
    ended = [one for one in reports if getattr(one, "when", None) == "teardown"]
    lines = [text for one in ended for name, text in one.user_properties if name == MARK]
    if lines:
        terminalreporter.section("spectrace")
        for line in lines:
            terminalreporter.line(line)


def named(item: pytest.Item) -> str:
    """Return a test's name without the folders that it lies in: they may move, with its recordings."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


def placed(item: pytest.Item) -> Path:
    """Return where a test's recording lies."""
    marker = item.get_closest_marker(MARK)
    if marker is not None and (marker.args or set(marker.kwargs) != {"recording"}):
        raise pytest.UsageError(f"{item.nodeid}: expected @pytest.mark.{MARK}(recording=PATH), found {marker}.")
    if marker is not None:
        return item.path.parent / str(marker.kwargs["recording"])
    name = item.nodeid.partition("::")[2].replace("::", ".")
    plain = re.sub(r"[^\w.-]+", "_", name)[:_LONGEST]
    if plain != name:  # two tests must not share a file
        plain = f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return item.path.parent / "recordings" / item.path.stem / f"{plain}.zip"
