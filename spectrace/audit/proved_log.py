"""A whole database against a checkpoint: every episode, and all that lists, ledgers and later checkpoints read of it.

Beside the episodes' chains and leaves: the rows of `episodes`, the projections (which nothing guards, and people look
at), the kept leaves, and what `db check` looks at. What belongs to an episode is said of that episode, the rest of
"(database)".
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace

import sqlalchemy as sa

from spectrace.audit.answers import Filters
from spectrace.audit.checkpoint_files import Held, leaves_file
from spectrace.audit.checkpoints import DATABASE
from spectrace.audit.hidden import hidden, only_project, unknown
from spectrace.audit.integrity import INVALID, UNKNOWN, VerifyResult
from spectrace.audit.leaves import BadLeaf, Leaf, hashes, read_leaf, strays
from spectrace.audit.lines import counted
from spectrace.audit.proved_choice import may_pass, unlisted
from spectrace.audit.proving import prove_leaves, removed
from spectrace.audit.standing_leaves import Tree, by_episode, in_database
from spectrace.audit.verifying import Told, projections_told
from spectrace.core import merkle
from spectrace.core.admin_events import is_admin
from spectrace.errors import UsageError
from spectrace.store import episode_rows, leaf_rows, soundness, tables
from spectrace.store.leaf_rows import Kept
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore

ROWS = "rows"
"""The look of `db check` that `episode_rows` says episode by episode here."""


class Proof:
    """A checkpoint held against one database."""

    def __init__(self, store: Listable, held: Held) -> None:
        """Read the leaves: those beside the checkpoint, or those of the database where they have its root."""
        if not isinstance(store, SqlEventStore):
            raise UsageError("a checkpoint is compared with a database, or with a bundle.")
        self._store, self._held = store, held
        with store.database.reading() as connection:
            self._kept = leaf_rows.kept(connection)
        self._leaves = held.leaves if held.leaves is not None else self._own()
        self.tree: Tree = by_episode(_readable(self._leaves or ()))
        self._project = only_project(store)

    def names(self) -> list[str]:
        """Return the episodes by their rows, which is all of them: runs first, then administrative logs."""
        with self._store.database.reading() as connection:
            query = sa.select(tables.episodes.c.episode).order_by(
                tables.episodes.c.number <= 0, tables.episodes.c.number
            )
            return [str(one) for one in connection.scalars(query)]

    def episodes(self, results: Iterable[VerifyResult]) -> list[VerifyResult]:
        """Return the results of single episodes as the checkpoint proves them."""
        with self._store.database.reading() as connection:
            stored = in_database(connection, self.tree)
        if self._leaves is None:
            return [*results, self._no_leaves()]
        return list(prove_leaves(results, self.tree, stored, self._held.checkpoint.at))

    def whole(
        self, results: Iterable[VerifyResult], url: str, jobs: int | None = None, told: Told | None = None
    ) -> list[VerifyResult]:
        """Return the results of all episodes, what is gone, and what else of the database is not as it should be."""
        found = {one.episode: one for one in self.episodes(results)}
        there = [name for name in found if name != DATABASE]
        elsewhere = self._elsewhere(there)
        unseen = hidden(self.tree, set(there), self._project)
        for one in removed(self.tree, [*there, *elsewhere, *unseen]):
            found[one.episode] = one
        with self._store.database.reading() as connection:
            for episode, what in (*self._altered_leaves(connection), *_altered_rows(connection)):
                _say(found, episode, what)
        runs = [one.episode for one in found.values() if one.result != INVALID and not is_admin(one.episode)]
        for episode, what in projections_told(self._store, runs, jobs, told):
            _say(found, episode, what)
        problems = [(one.check, one.problem) for one in soundness.check(url) if one.problem is not None]
        database = [f"{check}: {problem}" for check, problem in problems if check != ROWS]
        other = [self._another_log(there, elsewhere)] if elsewhere else []
        return [*found.values(), *(_of_all(one) for one in database), *other, *self._unseen(unseen), *self._file()]

    def missing(self, prefix: str) -> list[VerifyResult]:
        """Return the results of the episodes that the checkpoint has, whose ids start so, and that are not there."""
        there = set(self.names())
        if not prefix or prefix in there:
            return []
        meant = {name: one for name, one in self.tree.items() if name.startswith(prefix)}
        unseen = hidden(meant, there, self._project)
        return [*removed(meant, [*there, *unseen]), *self._unseen(unseen, prefix)]

    def unlisted(self, chosen: Collection[str], filters: Filters) -> list[VerifyResult]:
        """Return what the checkpoint has, may pass the filters, and was removed or altered so that it is not chosen."""
        with self._store.database.reading() as connection:
            stored = in_database(connection, self.tree)
        there = set(self.names())
        unseen = hidden(self.tree, there, self._project)
        seen = {name: leaves for name, leaves in self.tree.items() if name not in unseen}
        meant = [name for name, leaves in unseen.items() if may_pass(leaves[-1], filters)]
        return [*unlisted(seen, stored, there, set(chosen), filters), *self._unseen(meant)]

    def _unseen(self, episodes: Collection[str], name: str = DATABASE) -> Iterator[VerifyResult]:
        """Say once how many episodes the role is not shown."""
        if self._project is not None and episodes:
            yield unknown(name, len(episodes), self._project)

    def _own(self) -> tuple[bytes, ...] | None:
        """Return the database's leaves as far as the checkpoint goes; None where they do not have its root."""
        size = self._held.checkpoint.size
        found = tuple(row.data for row in self._kept[:size] if type(row.data) is bytes)
        return found if len(found) == size and merkle.root(hashes(found)) == self._held.checkpoint.root else None

    def _no_leaves(self) -> VerifyResult:
        return _of_all(
            f"its leaves do not have the signed root: the log was rewritten, rolled back or is another one. Without "
            f"the leaves beside the checkpoint ({self._held.problem}) nobody can say where"
        )

    def _file(self) -> Iterator[VerifyResult]:
        """Name the file beside the checkpoint where it is there and not what was signed."""
        beside = leaves_file(self._held.path)
        if self._held.problem is not None and beside.is_file():
            yield VerifyResult(beside.name, INVALID, 0, None, None, self._held.problem)

    def _altered_leaves(self, connection: sa.Connection) -> Iterator[tuple[str, str]]:
        """Yield whose leaves the database keeps otherwise than they were signed, or than its episodes are."""
        signed = self._held.leaves
        own = self._own_logs(connection)
        if signed is not None and not self._is_of_another(own) and (self._kept or self._epoch in own):
            yield from _differing(signed, self._kept)
        later = [row for row in self._kept if signed is None or row.place >= self._held.checkpoint.size]
        yield from _later(self._kept, {row.place for row in later})
        for leaf, _ in strays(connection, _readable([row.data for row in later])):
            yield leaf.episode, f"a leaf of it in the database says {leaf.events} events, with another head"

    @property
    def _epoch(self) -> str | None:
        return self._held.checkpoint.extension("epoch")

    def _elsewhere(self, there: Collection[str]) -> list[str]:
        """Return the administrative logs that the checkpoint has and that stay in the database that it was made in."""
        with self._store.database.reading() as connection:
            if not self._is_of_another(self._own_logs(connection)):
                return []
        return [name for name in self.tree if is_admin(name) and name not in there]

    def _another_log(self, there: Collection[str], elsewhere: Sequence[str]) -> VerifyResult:
        runs = sum(1 for name in self.tree if name in there and not is_admin(name))
        said = (
            f"the checkpoint is of another log, {self._held.checkpoint.origin}: {counted(runs, 'run')} of it "
            f"{'is' if runs == 1 else 'are'} here and compared; what was done to that database "
            f"({', '.join(elsewhere)}) is not here"
        )
        return VerifyResult(DATABASE, UNKNOWN, 0, None, None, said)

    def _is_of_another(self, own: Collection[str]) -> bool:
        """Whether the checkpoint was made in a database that runs were unpacked or copied from into this one's own log.

        A copy that goes on with the tree is no other log; nor is a database whose leaves somebody altered.
        """
        if not own or self._epoch is None or self._epoch in own:
            return False
        try:
            first = read_leaf(self._kept[0].data).episode if self._kept else None
        except (BadLeaf, TypeError):
            return False
        return first is None or (first in own and f"spectrace/{first}" != self._held.checkpoint.origin)

    @staticmethod
    def _own_logs(connection: sa.Connection) -> set[str]:
        """Return the administrative logs that were begun in this database, and did not come along with a copy."""
        own = sa.select(tables.episodes.c.episode).join(tables.epochs).where(tables.epochs.c.place.is_not(None))
        return set(connection.scalars(own))


def _differing(signed: Sequence[bytes], kept: Sequence[Kept]) -> Iterator[tuple[str, str]]:
    """Yield what of the signed leaves is not kept; one that only moved is not said of its episode, which is well."""
    there = {row.place: row for row in kept}
    told = [(read_leaf(data).episode, data) for data in signed]
    other = [place for place, one in enumerate(told) if place not in there or _said(there[place]) != one]
    elsewhere = Counter(map(_said, kept)) - Counter(one for place, one in enumerate(told) if place not in set(other))
    moved = 0
    until = max(there, default=-1) + 1
    older = "" if until else ": it keeps none, so it is from before the checkpoint (an old backup), or lost them"
    if until and all(place >= until for place in other):
        older = f": it keeps the first {until:,} alone, so it is older than the checkpoint (a backup), or lost the rest"
    for place in other:
        episode, data = told[place]
        if elsewhere[episode, data] > 0:
            elsewhere[episode, data] -= 1
            moved += 1
        elif place not in there:
            yield episode, f"the database does not keep leaf {place} of it, which was signed{older}"
        else:
            yield episode, f"leaf {place}, which was signed, is another one in the database"
            row = there[place]
            if row.data == data:
                yield (
                    str(row.episode),
                    f"leaf {place} in the database is said to be of it, and was signed for {episode}",
                )
    if moved:
        yield DATABASE, f"{moved} leaves stand at other places in the database than they were signed at"


def _said(row: Kept) -> tuple[object, object]:
    return row.episode, row.data


def _later(kept: Sequence[Kept], later: Container[int]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with leaves that were added after the checkpoint: no checkpoint would have added them."""
    last: dict[str, Leaf] = {}
    for count, row in enumerate(kept):
        try:
            leaf = read_leaf(row.data)
        except (BadLeaf, TypeError):
            leaf = None
        if row.place in later and (leaf is None or leaf.episode != row.episode or row.place != count):
            yield str(row.episode), f"leaf {row.place} in the database is none that a checkpoint added"
        elif row.place in later and leaf is not None and _repeats(last.get(leaf.episode), leaf):
            yield leaf.episode, f"leaf {row.place} in the database says no more than an earlier one of it"
        if leaf is not None:
            last[leaf.episode] = leaf


def _repeats(before: Leaf | None, leaf: Leaf) -> bool:
    return before is not None and leaf.events <= before.events


def _altered_rows(connection: sa.Connection) -> Iterator[tuple[str, str]]:
    for episode, what in episode_rows.altered(connection):
        yield episode, f"its row says {what}"


def _readable(leaves: Sequence[bytes]) -> Iterator[Leaf]:
    """Yield the leaves; all are covered by the signed root, so one that cannot be read is of a later spectrace."""
    for data in leaves:
        try:
            yield read_leaf(data)
        except BadLeaf:
            continue


def _say(found: dict[str, VerifyResult], episode: str, what: str) -> None:
    """Call an episode invalid, unless it is already: what was said first is nearer to the bytes."""
    known = found.get(episode)
    if known is None:
        found[episode] = VerifyResult(episode, INVALID, 0, None, None, what)
    elif known.result != INVALID:
        found[episode] = replace(known, result=INVALID, first_bad_seq=None, detail=what)


def _of_all(detail: str) -> VerifyResult:
    return VerifyResult(DATABASE, INVALID, 0, None, None, detail)
