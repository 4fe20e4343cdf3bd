"""${message}.

Events are never batch-migrated: new columns go to side tables.
"""

import sqlalchemy as sa
from alembic import op

from spectrace.store.triggers import assert_triggers

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """${message}."""
    ${upgrades if upgrades else "pass"}
    assert_triggers(op.get_bind())
