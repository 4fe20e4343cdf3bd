"""What a checkpoint has and the role of one project is not shown (`db grants --project`): neither removed nor whole.

A leaf carries its project. One of another project whose episode is not there may lie there, hidden by row level
security, or may be gone: this role cannot tell, so it is counted and never called removed. A leaf of the role's own
project, or of an administrative log, whose episode is not there is gone, or its row was altered so that it is hidden.
"""

from collections.abc import Container

from spectrace.audit.integrity import UNKNOWN, VerifyResult
from spectrace.audit.leaves import may_hide
from spectrace.audit.lines import counted
from spectrace.audit.standing_leaves import Tree
from spectrace.store import sight
from spectrace.store.sql import SqlEventStore


def only_project(store: object) -> str | None:
    """Return the one project that whoever opened the store is shown; None where nothing is hidden."""
    if not isinstance(store, SqlEventStore):
        return None
    with store.database.reading() as connection:
        return sight.only_project(connection)


def hidden(tree: Tree, there: Container[str], project: str | None) -> Tree:
    """Return what of the tree is not there, and would not be shown if it were: all leaves of it are of others."""
    if project is None:
        return {}
    return {
        name: leaves
        for name, leaves in tree.items()
        if name not in there and all(may_hide(leaf, project) for leaf in leaves)
    }


def told_of(episodes: int, project: str, checkpoint: str = "the checkpoint") -> str:
    """Return in words that so many episodes are not shown."""
    return (
        f"{counted(episodes, 'episode')} of other projects that {checkpoint} has: not visible to this role, which is "
        f"shown the project {project!r} and administrative logs. Whether they are there, and as they were signed, is "
        "for a role to say that sees them"
    )


def unknown(name: str, episodes: int, project: str) -> VerifyResult:
    """Return that as a result, under the name that stands for what was asked of."""
    return VerifyResult(name, UNKNOWN, 0, None, None, told_of(episodes, project))
