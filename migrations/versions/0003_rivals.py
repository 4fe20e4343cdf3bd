"""The names of the event types of speculative-actions and agentcollab.

A database may hold events of theirs already, brought in from a later spectrace while they were unknown: their name has
a number from 10,000 on there, and keeps it. Numbers are this database's own; events are never rewritten for one.
"""

import sqlalchemy as sa
from alembic import op

from spectrace.store.triggers import assert_triggers

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FIRST_NUMBER = 35
TYPES = ("step.speculated", "speculation.matched", "plan.made", "progress.judged", "control.passed")


def upgrade() -> None:
    """Give each name its number, unless it has one."""
    types = sa.table("types", sa.column("number", sa.SmallInteger), sa.column("name", sa.String))
    held = set(op.get_bind().scalars(sa.select(types.c.name)))
    new = [{"number": number, "name": name} for number, name in enumerate(TYPES, FIRST_NUMBER) if name not in held]
    op.bulk_insert(types, new)
    assert_triggers(op.get_bind())
