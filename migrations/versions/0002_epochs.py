"""The administrative log: which episode tells what was done to this database, in each of its epochs.

Its events lie in `episodes` and `events` like all others, under numbers of 0 and below.
"""

import sqlalchemy as sa
from alembic import op

from spectrace.store.triggers import assert_triggers

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

FIRST_NUMBER = 28
TYPES = (
    "admin.opened",
    "admin.upgraded",
    "admin.restored",
    "admin.imported",
    "admin.unpacked",
    "admin.copied",
    "admin.begun",
)

INDEXES = (
    ("ix_episodes_open", "episodes", ["started_at"], "ended_at IS NULL"),
    ("ix_summaries_projection", "summaries", ["projection"], None),
    ("ix_summaries_problem", "summaries", ["number"], "problem IS NOT NULL"),
    ("ix_actions_tool_requested_at_drafted_at", "actions", ["tool", "requested_at", "drafted_at"], None),
)
"""With these an audit by tool and window reads only what it tells."""

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table, the audit's indexes, and the names of the new event types."""
    op.create_table(
        "epochs",
        sa.Column("number", BIG, autoincrement=False, nullable=False),
        sa.Column("place", sa.Integer()),
        sa.PrimaryKeyConstraint("number", name="pk_epochs"),
        sa.ForeignKeyConstraint(["number"], ["episodes.number"], name="fk_epochs_number_episodes"),
        sa.UniqueConstraint("place", name="uq_epochs_place"),
    )
    op.drop_index("ix_actions_tool_requested_at", "actions")
    for name, table, columns, where in INDEXES:
        partial = None if where is None else sa.text(where)
        op.create_index(name, table, columns, sqlite_where=partial, postgresql_where=partial)
    types = sa.table("types", sa.column("number", sa.SmallInteger), sa.column("name", sa.String))
    op.bulk_insert(types, [{"number": number, "name": name} for number, name in enumerate(TYPES, start=FIRST_NUMBER)])
    assert_triggers(op.get_bind())
