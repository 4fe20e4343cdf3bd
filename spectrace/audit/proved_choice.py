"""Whether filters leave out what a checkpoint has: episodes that were removed, or altered so that they do not pass.

Part of `proved_log`. A leaf says when its episode began, its project, and how it ended; of any other filter it is not
known whether a removed episode would have passed it, so it is named.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from spectrace.audit.answers import Filters
from spectrace.audit.integrity import CONSISTENT, INVALID, VerifyResult
from spectrace.audit.leaves import Leaf
from spectrace.audit.proving import prove_leaves, removed
from spectrace.audit.standing_leaves import Stored, Tree
from spectrace.store.leaf_rows import ADMINISTRATIVE, OPEN

UNKNOWN_END = "unknown"


def told_by_leaves(filters: Filters) -> bool:
    """Whether leaves, which nobody can alter, tell of every filter whether an episode passes it."""
    return replace(filters, since=None, until=None, project=(), status=()) == Filters()


def may_pass(leaf: Leaf, filters: Filters) -> bool:
    """Whether an episode may pass filters, by what its newest leaf says."""
    began = (filters.since is None or leaf.started_at >= filters.since) and (
        filters.until is None or leaf.started_at < filters.until
    )
    project = not filters.project or leaf.project in filters.project
    open_ended = leaf.status == OPEN or UNKNOWN_END in filters.status
    status = not filters.status or open_ended or leaf.status in filters.status
    return leaf.status != ADMINISTRATIVE and began and project and status


def unlisted(
    tree: Tree, stored: Mapping[str, Stored], there: Collection[str], chosen: Collection[str], filters: Filters
) -> Iterator[VerifyResult]:
    """Yield an invalid result for each episode that may pass the filters and is not there as it was signed.

    `there` are the episodes that have a row, `chosen` those that passed the filters by what lists show.
    """
    others = {name: leaves for name, leaves in tree.items() if name not in chosen and may_pass(leaves[-1], filters)}
    unsure = "" if told_by_leaves(filters) else "; whether it passes every filter is not known"
    for one in removed(others, there):
        yield replace(one, detail=f"{one.detail}{unsure}")
    moved = [VerifyResult(name, CONSISTENT, stored[name].events, None, None, "") for name in others if name in stored]
    for one in prove_leaves(moved, others, stored):
        if one.result == INVALID:
            yield replace(one, detail=f"{one.detail}; it was not listed, and may pass the filters")
