"""What a forger does who knows the format as well as we do: everything else is put right, so that nothing disagrees.

Each works on a connection without triggers. Links, heads, rows and (with `projections_anew`) what lists show are made
to fit, as spectrace itself would have written them.
"""

from collections.abc import Callable
from hashlib import sha256

import orjson
import sqlalchemy as sa

from spectrace.core.digest import canonical, first_link, header_bytes, next_link
from spectrace.core.events import EpisodeEnded
from spectrace.store import tables
from spectrace.store.compression import pack_body, unpack

EVENTS, EPISODES, LEAVES = tables.events.c, tables.episodes.c, tables.leaves.c
OF_AN_EPISODE = ("segments", "actions", "search", "summaries")


def number_of(connection: sa.Connection, episode: str) -> int:
    return connection.execute(sa.select(EPISODES.number).where(EPISODES.episode == episode)).scalar_one()


def of(number: int, first: int = 0) -> sa.ColumnElement[bool]:
    """Return the clause for an episode's events from `first` on."""
    return EVENTS.key.between((number << tables.SEQ_BITS) + first, ((number + 1) << tables.SEQ_BITS) - 1)


def rewrite(connection: sa.Connection, episode: str, change: Callable[[int, dict], dict]) -> None:
    """Write an episode anew with other bodies: salts as they were, links and head computed as they should be."""
    number, link = number_of(connection, episode), first_link(episode)
    types = dict(connection.execute(sa.select(tables.types.c.number, tables.types.c.name)).all())
    tools = dict(connection.execute(sa.select(tables.tools.c.id, tables.tools.c.name)).all())
    for row in connection.execute(tables.events.select().where(of(number)).order_by(EVENTS.key)).all():
        seq, body = row.key & ((1 << tables.SEQ_BITS) - 1), unpack(row.codec, bytes(row.payload))
        data = canonical(change(seq, orjson.loads(body)))
        lifted = (row.effect, row.authority, row.outcome, tools.get(row.tool))
        header = header_bytes(episode, seq, row.lane, types[row.type], row.version, row.at, *lifted)
        link = next_link(link, header, bytes(row.salt), data)
        codec, payload = pack_body(data)
        values = {"codec": codec, "payload": payload, "link": link}
        connection.execute(tables.events.update().where(EVENTS.key == row.key).values(values))
    connection.execute(tables.episodes.update().where(EPISODES.number == number).values(head=link))


def cut(connection: sa.Connection, episode: str, keep: int) -> None:
    """Take the end of an episode away, and let its row say so."""
    number = number_of(connection, episode)
    connection.execute(tables.events.delete().where(of(number, keep)))
    last = connection.execute(sa.select(EVENTS.link).where(of(number)).order_by(EVENTS.key.desc()).limit(1))
    ended = sa.select(tables.types.c.number).where(tables.types.c.name == EpisodeEnded.TYPE).scalar_subquery()
    there = connection.execute(sa.select(EVENTS.at).where(of(number), EVENTS.type == ended)).scalar()
    values = {"events": keep, "head": last.scalar_one(), "ended_at": there}
    connection.execute(tables.episodes.update().where(EPISODES.number == number).values(values))


def remove(connection: sa.Connection, episode: str, *, leaves: bool = False) -> None:
    """Take an episode away with every row that it has."""
    number = number_of(connection, episode)
    for name in OF_AN_EPISODE:
        table = tables.metadata.tables[name]
        connection.execute(table.delete().where(table.c.number == number))
    connection.execute(tables.run_items.delete().where(tables.run_items.c.episode == episode))
    connection.execute(tables.events.delete().where(of(number)))
    connection.execute(tables.epochs.delete().where(tables.epochs.c.number == number))
    connection.execute(tables.episodes.delete().where(EPISODES.number == number))
    if leaves:
        connection.execute(tables.leaves.delete().where(LEAVES.episode == episode))
        in_order = connection.execute(tables.leaves.select().order_by(LEAVES.place)).all()
        connection.execute(tables.leaves.delete())
        for place, row in enumerate(in_order):
            connection.execute(tables.leaves.insert().values(place=place, episode=row.episode, data=row.data))


def leaf_anew(connection: sa.Connection, episode: str) -> None:
    """Let the episode's last leaf say what its row says now."""
    row = connection.execute(tables.episodes.select().where(EPISODES.episode == episode)).one()
    last = sa.select(sa.func.max(LEAVES.place)).where(LEAVES.episode == episode).scalar_subquery()
    place, data = connection.execute(sa.select(LEAVES.place, LEAVES.data).where(LEAVES.place == last)).one()
    told = orjson.loads(bytes(data))
    told[5], told[7] = row.events, bytes(row.head).hex()
    connection.execute(tables.leaves.update().where(LEAVES.place == place).values(data=canonical(told)))


def erase(connection: sa.Connection, episode: str, seq: int) -> None:
    """Erase an event's body as spectrace does, proof and all, but let no record say so."""
    key = (number_of(connection, episode) << tables.SEQ_BITS) + seq
    row = connection.execute(tables.events.select().where(EVENTS.key == key)).one()
    proof = sha256(bytes(row.salt) + unpack(row.codec, bytes(row.payload))).digest()
    connection.execute(tables.events.update().where(EVENTS.key == key).values(payload=None, salt=None))
    connection.execute(tables.erasures.insert().values(key=key, proof=proof))
