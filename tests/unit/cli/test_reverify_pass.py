"""A run is begun once everything that it selects has been looked at, and its verifier is let go whatever happens."""

import asyncio

import pytest

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import Reader
from spectrace.cli.console import Progress
from spectrace.cli.reverify_pass import Passing
from spectrace.core.types import ModelFacts
from spectrace.errors import ModelFailed, StoreError, UsageError
from spectrace.runs.pass_plan import Plan
from spectrace.runs.verifiers import Single
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.verifying import shop_episodes, verifier

PLAN = Plan("again", "scripted:second")


class Closing(Single):
    """A pool that remembers that it was closed."""

    closed = False

    async def close(self):
        self.closed = True


class Silent(Closing):
    async def facts(self):
        raise ModelFailed("unreachable", "nobody there")


@pytest.fixture
def reader(tmp_path):
    with Reader(open_store(str(tmp_path / "log.db"))) as opened:
        yield opened


def passing(reader, names, pool=None, plan=PLAN):
    return Passing(reader, plan, pool or Closing(verifier()), names, None, {}, Progress(None))


def test_everything_is_judged_and_said(reader, capsys):
    names = shop_episodes(reader.store, 2)
    at_work = passing(reader, names)
    before = at_work.begun
    asyncio.run(at_work.go(2, None))
    found = read_pass(reader, "again")
    at_work.say(found, at_work.stopped)
    said = capsys.readouterr().err

    assert (before, at_work.begun, at_work.has_left(found), at_work.pool.closed) == (False, True, False, True)
    assert said.startswith("Run again: 6 reviews of 2 episodes.\n")
    assert said.endswith("6 reviews: judged now 6, before 0, left 0.\n")


def test_a_run_of_something_that_cannot_be_read_is_not_begun(reader, tmp_path):
    good, odd = shop_episodes(reader.store, 2)
    number = reader.store.log.number(odd)
    damage(tmp_path / "log.db", f"UPDATE events SET codec = 9 WHERE key = {(number << 20) | 4}")  # noqa: S608 - a number
    at_work = passing(reader, [good, odd])

    with pytest.raises(StoreError, match=f"event 4 of {odd}"):
        asyncio.run(at_work.go(1, None))
    assert runs.find(reader.store, "again") is None
    assert at_work.pool.closed


def test_a_verifier_that_is_not_there_begins_no_run(reader):
    at_work = passing(reader, shop_episodes(reader.store, 1), Silent(verifier()))

    with pytest.raises(ModelFailed, match="nobody there"):
        asyncio.run(at_work.go(1, None))
    assert runs.find(reader.store, "again") is None
    assert at_work.pool.closed


def test_a_limit_of_money_needs_a_price(reader):
    class Unpriced(Closing):
        async def facts(self):
            return ModelFacts("", "openai", "of-nobody")

    at_work = passing(reader, shop_episodes(reader.store, 1), Unpriced(verifier()))

    with pytest.raises(UsageError, match="max_cost_usd needs a price for the strong model openai:of-nobody"):
        asyncio.run(at_work.go(1, "1"))
