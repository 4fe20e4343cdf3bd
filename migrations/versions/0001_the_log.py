"""The log: episodes, events, blobs, runs and the projections.

Written out in full and never changed: `spectrace.store.tables` says what the tables are today.
"""

import sqlalchemy as sa
from alembic import op

from spectrace.store.triggers import assert_triggers, create_triggers

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TYPES = (
    "episode.started",
    "episode.ended",
    "reset.requested",
    "reset.completed",
    "reset.failed",
    "generate.requested",
    "generate.completed",
    "generate.failed",
    "act.requested",
    "act.completed",
    "act.failed",
    "evaluate.requested",
    "evaluate.completed",
    "evaluate.failed",
    "step.drafted",
    "action.held",
    "action.checked",
    "segment.closed",
    "verdict.given",
    "segment.committed",
    "steps.discarded",
    "repair.made",
    "reply.unusable",
    "tools.changed",
    "effect.observed",
    "state.moved",
    "outcome.settled",
)

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")
WRITES = sa.text("type = 9 AND effect = 'write'")


def upgrade() -> None:
    """Create everything in an empty database."""
    _log()
    _runs()
    _projections()
    create_triggers(op.get_bind())
    assert_triggers(op.get_bind())


def _log() -> None:
    op.create_table(
        "episodes",
        sa.Column("number", BIG, nullable=False),
        sa.Column("episode", NAME, nullable=False),
        sa.Column("project", sa.String(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("head", sa.LargeBinary(32), nullable=False),
        sa.Column("writer_host", sa.String(), nullable=False),
        sa.Column("writer_pid", sa.Integer(), nullable=False),
        sa.Column("writer_started", sa.String(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("db_user", sa.String()),
        sa.PrimaryKeyConstraint("number", name="pk_episodes"),
        sa.UniqueConstraint("episode", name="uq_episodes_episode"),
    )
    op.create_index("ix_episodes_started_at_number", "episodes", ["started_at", "number"])
    types = op.create_table(
        "types",
        sa.Column("number", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_types"),
        sa.UniqueConstraint("name", name="uq_types_name"),
    )
    op.bulk_insert(types, [{"number": number, "name": name} for number, name in enumerate(TYPES, start=1)])
    op.create_table(
        "tools",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tools"),
        sa.UniqueConstraint("name", name="uq_tools_name"),
    )
    op.create_table(
        "events",
        sa.Column("key", BIG, autoincrement=False, nullable=False),
        sa.Column("type", sa.SmallInteger(), nullable=False),
        sa.Column("tool", sa.Integer()),
        sa.Column("lane", sa.String(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("effect", sa.String()),
        sa.Column("authority", sa.String()),
        sa.Column("outcome", sa.String()),
        sa.Column("codec", sa.SmallInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary()),
        sa.Column("salt", sa.LargeBinary(16)),
        sa.Column("link", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_events"),
        sa.CheckConstraint("(payload IS NULL) = (salt IS NULL)", name="ck_events_erased_whole"),
    )
    op.create_index("ix_events_writes", "events", ["tool", "at"], sqlite_where=WRITES, postgresql_where=WRITES)
    op.create_table(
        "blobs",
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("codec", sa.SmallInteger(), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_blobs"),
    )
    op.create_table(
        "dictionaries",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("bytes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dictionaries"),
    )
    op.create_table(
        "checkpoints",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_checkpoints"),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("cancelled_at", sa.BigInteger()),
        sa.Column("selection_digest", sa.String(), nullable=False),
        sa.Column("selection", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("name", name="uq_runs_name"),
    )
    op.create_table(
        "run_items",
        sa.Column("id", BIG, nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("parent", NAME, nullable=False),
        sa.Column("verdict_seq", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("episode", NAME, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run_items"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_run_items_run_runs"),
        sa.UniqueConstraint("run", "parent", "verdict_seq", "repeat", name="uq_run_items_once"),
    )


def _projections() -> None:
    op.create_table(
        "summaries",
        sa.Column("number", BIG, autoincrement=False, nullable=False),
        sa.Column("projection", sa.SmallInteger(), nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("env", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("protocol", sa.String(), nullable=False),
        sa.Column("weak", sa.String()),
        sa.Column("strong", sa.String()),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("run", sa.String()),
        sa.Column("parent", sa.String()),
        sa.Column("origin", sa.String()),
        sa.Column("status", sa.String()),
        sa.Column("end_reason", sa.String()),
        sa.Column("reward", sa.String()),
        sa.Column("cost_usd", sa.String()),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("reviews", sa.Integer(), nullable=False),
        sa.Column("writes", sa.Integer(), nullable=False),
        sa.Column("rejections", sa.Integer(), nullable=False),
        sa.Column("unusable", sa.Integer(), nullable=False),
        sa.Column("repairs", sa.Integer(), nullable=False),
        sa.Column("weak_calls", sa.Integer(), nullable=False),
        sa.Column("strong_calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_summaries"),
        sa.ForeignKeyConstraint(["number"], ["episodes.number"], name="fk_summaries_number_episodes"),
    )
    op.create_index("ix_summaries_env_task", "summaries", ["env", "task"])
    op.create_index("ix_summaries_run", "summaries", ["run"])
    op.create_table(
        "segments",
        sa.Column("number", BIG, autoincrement=False, nullable=False),
        sa.Column("segment", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("closed", sa.String()),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("verdict_seq", sa.Integer()),
        sa.Column("review_seq", sa.Integer()),
        sa.Column("drafted", sa.Integer()),
        sa.Column("accepted", sa.Integer()),
        sa.Column("decision", sa.String()),
        sa.Column("status", sa.String()),
        sa.Column("cause", sa.Text()),
        sa.Column("category", sa.String()),
        sa.Column("reason", sa.Text()),
        sa.Column("rejected_tool", sa.String()),
        sa.Column("rejected_action", sa.Text()),
        sa.Column("draft_reasoning", sa.Text()),
        sa.Column("repair_kind", sa.String()),
        sa.Column("repair_action", sa.Text()),
        sa.Column("repair_outcome", sa.String()),
        sa.PrimaryKeyConstraint("number", "segment", name="pk_segments"),
        sa.ForeignKeyConstraint(["number"], ["episodes.number"], name="fk_segments_number_episodes"),
    )
    op.create_index("ix_segments_category_rejected_tool", "segments", ["category", "rejected_tool"])
    op.create_table(
        "actions",
        sa.Column("number", BIG, autoincrement=False, nullable=False),
        sa.Column("position", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("tool", sa.String()),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("effect_declared", sa.String(), nullable=False),
        sa.Column("effect_by", sa.String()),
        sa.Column("drafted_at", sa.BigInteger()),
        sa.Column("held_seq", sa.Integer()),
        sa.Column("verdict_seq", sa.Integer()),
        sa.Column("authority", sa.String()),
        sa.Column("reviewer_model", sa.String()),
        sa.Column("requested_at", sa.BigInteger()),
        sa.Column("completed_at", sa.BigInteger()),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("state_changed", sa.Boolean()),
        sa.Column("result_digest", sa.String()),
        sa.Column("started_by", sa.String(), nullable=False),
        sa.Column("erased", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("number", "position", name="pk_actions"),
        sa.ForeignKeyConstraint(["number"], ["episodes.number"], name="fk_actions_number_episodes"),
    )
    op.create_index("ix_actions_tool_requested_at", "actions", ["tool", "requested_at"])
    op.create_table(
        "search",
        sa.Column("number", BIG, autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_search"),
        sa.ForeignKeyConstraint(["number"], ["episodes.number"], name="fk_search_number_episodes"),
    )
