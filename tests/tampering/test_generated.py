"""Whatever is done to any row or column of a log of 1,000 shop episodes is found where it was done.

The kinds are generated from the database's own schema: table x column x operation. Each has a victim of its own, and
what `verify` has to name comes from two accounts, before and after, that `account` reads with SQL alone.
"""

# ruff: noqa: S608 - names come from the schema, values are bound

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
import sqlalchemy as sa

from spectrace.store import tables
from tests.tampering.account import DATABASE, NOT_EVIDENCE, Account, account, changed, to_be_named
from tests.tampering.operations import Forger, Kind, Refused, kinds, shapes, with_triggers, without_triggers
from tests.tampering.recorded_log import EPISODES, Kept, kept
from tests.tampering.trust import Answer, verified

TABLES = sorted([*(table.name for table in tables.metadata.sorted_tables), "alembic_version"])
FEW = 24
ONE_BY_ONE = {"alembic_version", "blobs", "dictionaries", "epochs", "leaves", "runs", "tools", "types"}
"""Tables of which a single row concerns more than one episode: each tampering with them has a copy of its own."""


@dataclass
class Outcome:
    """What was done to a copy, and what has to be named."""

    done: dict[Kind, str] = field(default_factory=dict)
    """Kind -> the victim."""
    refused: dict[Kind, str] = field(default_factory=dict)
    named: dict[str, int | None] = field(default_factory=dict)


def tampered(engine: sa.Engine, before: Account, which: Sequence[Kind]) -> Outcome:
    """Tamper with a copy in every one of these ways, each with a victim of its own."""
    outcome = Outcome()
    with engine.connect() as connection:
        without_triggers(connection)
        forger = Forger(connection)
        for kind, victim in zip(which, victims(forger, which[0].table), strict=False):
            try:
                forger.do(kind, *victim)
                outcome.done[kind] = victim[1]
            except Refused as refused:
                outcome.refused[kind] = str(refused)
        with_triggers(connection)
        connection.commit()
        after = account(connection)
    outcome.named = to_be_named(changed(before, after), after)
    return outcome


def victims(forger: Forger, table: str) -> Iterator[tuple[int, str]]:
    """Yield (number, episode) of those that have rows in the table, from the last on: strangers come from the front."""
    rows = forger.connection.execute(sa.text("SELECT number, episode FROM episodes ORDER BY number DESC")).all()
    shape = forger.shapes[table]
    if shape.owner is None:
        yield from rows
        return
    for number, episode in rows:
        given = {"number": number} if ":number" in shape.owner else {"episode": episode}
        if forger.connection.execute(sa.text(f'SELECT 1 FROM "{table}" WHERE {shape.owner} LIMIT 1'), given).first():
            yield number, episode


@pytest.fixture(scope="session")
def log(tmp_path_factory) -> Kept:
    return kept(tmp_path_factory, EPISODES)


@pytest.fixture(scope="module")
def before(log) -> Account:
    with log.engine().connect() as connection:
        return account(connection)


def kinds_of(log: Kept, table: str) -> list[Kind]:
    with log.engine().connect() as connection:
        return [kind for kind in kinds(shapes(connection)) if kind.table == table]


def test_the_schema_s_tables_are_those_that_are_tampered_with(log):
    with log.engine().connect() as connection:
        assert sorted(shape.name for shape in shapes(connection)) == TABLES


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ONE_BY_ONE])
def test_whatever_is_done_to_rows_of_an_episode_is_found_there_and_nowhere_else(table, log, before, tmp_path):
    copy = log.copy(tmp_path / "copy.db")
    outcome = tampered(copy.engine(), before, kinds_of(log, table))
    answer = verified(copy.url, log.trusted)

    assert not differing(answer, outcome)
    assert answer.results - {"invalid", "unknown"} == {"valid"}


def differing(answer: Answer, outcome: Outcome) -> list[str]:
    """Return what was not named, was named without a reason, or was named at another event.

    Whatever was done to an episode, the database's own item may say something of it as well, and the other way round.
    """
    kinds_by_victim = {victim: kind for kind, victim in outcome.done.items()}
    found = []
    for place in sorted(outcome.named.keys() | answer.named.keys()):
        item, seq = answer.named.get(place), outcome.named.get(place)
        what = f"{kinds_by_victim.get(place, 'a stranger')} on {place}"
        if item is None:
            found.append(f"{what}: not found")
        elif place not in outcome.named and not (outcome.named and place in {DATABASE, *kinds_by_victim}):
            found.append(f"{what}: named without a reason, {item}")
        elif seq is not None and item["first_bad_seq"] != seq and item["result"] == "invalid":
            found.append(f"{what}: at event {seq}, named {item}")
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Kept:
    return kept(tmp_path_factory, FEW)


@pytest.fixture(scope="module")
def before_small(small) -> Account:
    with small.engine().connect() as connection:
        return account(connection)


@pytest.mark.parametrize("table", sorted(ONE_BY_ONE - {"alembic_version"}))
def test_whatever_is_done_to_rows_that_concern_more_than_one_is_found_too(table, small, before_small, tmp_path):
    wrong = []
    for kind in kinds_of(small, table):
        copy = small.copy(tmp_path / "copy.db")
        outcome = tampered(copy.engine(), before_small, [kind])
        if outcome.done and outcome.named:
            wrong += [f"{kind}: {what}" for what in differing(verified(copy.url, small.trusted), outcome)]

    assert not wrong


def test_what_is_no_evidence_is_exactly_the_rest_of_the_schema(small, before_small, tmp_path):
    with small.engine().connect() as connection:
        every = {f"{shape.name}.{column}" for shape in shapes(connection) for column in shape.columns}
    telling = set()
    for kind in [kind for table in TABLES for kind in kinds_of(small, table) if kind.column]:
        if f"{kind.table}.{kind.column}" not in telling:
            outcome = tampered(small.copy(tmp_path / "copy.db").engine(), before_small, [kind])
            telling |= {f"{kind.table}.{kind.column}"} if outcome.named else set()

    assert every - telling == NOT_EVIDENCE.keys()


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ONE_BY_ONE - {"epochs", "leaves"}])
def test_on_postgres_as_well(table, small, postgres_url, tmp_path):
    copy = small.copied_to(postgres_url, tmp_path / "note")
    with copy.engine().connect() as connection:
        before = account(connection)
    outcome = tampered(copy.engine(), before, kinds_of(copy, table)[::3])
    answer = verified(copy.url, copy.trusted)

    assert not differing(answer, outcome)
    assert answer.results - {"invalid", "unknown"} == {"valid"}
