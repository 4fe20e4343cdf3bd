"""The tables, for queries; the migrations under migrations/ create them and a test compares the two.

`events` is what the chain covers; `episodes` says who writes; everything from `actions` on is a projection: rebuilt
from events, never migrated. One table layout serves SQLite and Postgres. An event's key is number << 20 | seq: an
integer row id costs a tenth of a UUID (measured), and an episode is one range. Runs have the numbers from 1 on; those
of 0 and below are administrative logs (`epochs`), so `number > 0` asks for runs.
"""

import sqlalchemy as sa

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
SEQ_BITS = 20

metadata = sa.MetaData(naming_convention=NAMING)

BigKey = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""64 bits on both; only INTEGER is SQLite's row id."""

Name = sa.String().with_variant(sa.String(collation="C"), "postgresql")
"""Text compared byte by byte on both, so that a prefix is a range."""

episodes = sa.Table(
    "episodes",
    metadata,
    sa.Column("number", BigKey, primary_key=True),
    sa.Column("episode", Name, nullable=False, unique=True),
    sa.Column("project", sa.String, nullable=False),
    sa.Column("started_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("events", sa.Integer, nullable=False),
    sa.Column("head", sa.LargeBinary(32), nullable=False),
    sa.Column("writer_host", sa.String, nullable=False),
    sa.Column("writer_pid", sa.Integer, nullable=False),
    sa.Column("writer_started", sa.String, nullable=False),
    sa.Column("lease_until", sa.BigInteger, nullable=False),
    sa.Column("db_user", sa.String),
    sa.Index("ix_episodes_started_at_number", "started_at", "number"),
)
_OPEN = sa.text("ended_at IS NULL")
sa.Index("ix_episodes_open", episodes.c.started_at, sqlite_where=_OPEN, postgresql_where=_OPEN)

epochs = sa.Table(
    "epochs",
    metadata,
    sa.Column("number", sa.ForeignKey("episodes.number"), primary_key=True, autoincrement=False),
    sa.Column("place", sa.Integer, unique=True),
)
"""The administrative logs; the highest `place` is the current one, NULL came along from another database."""

types = sa.Table(
    "types",
    metadata,
    sa.Column("number", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String, nullable=False, unique=True),
)

tools = sa.Table(
    "tools",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("key", BigKey, primary_key=True, autoincrement=False),
    sa.Column("type", sa.SmallInteger, nullable=False),
    sa.Column("tool", sa.Integer),
    sa.Column("lane", sa.String, nullable=False),
    sa.Column("version", sa.SmallInteger, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("effect", sa.String),
    sa.Column("authority", sa.String),
    sa.Column("outcome", sa.String),
    sa.Column("codec", sa.SmallInteger, nullable=False),
    sa.Column("payload", sa.LargeBinary),
    sa.Column("salt", sa.LargeBinary(16)),
    sa.Column("link", sa.LargeBinary(32), nullable=False),
    sa.CheckConstraint("(payload IS NULL) = (salt IS NULL)", name="erased_whole"),
)
ACT_REQUESTED = 9
"""`core.events.TYPE_NUMBERS[ActRequested]`, spelled out because an index is made of it."""
_WRITES = sa.text(f"type = {ACT_REQUESTED} AND effect = 'write'")
sa.Index("ix_events_writes", events.c.tool, events.c.at, sqlite_where=_WRITES, postgresql_where=_WRITES)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("digest", sa.LargeBinary(32), primary_key=True),
    sa.Column("length", sa.BigInteger, nullable=False),
    sa.Column("codec", sa.SmallInteger, nullable=False),
    sa.Column("bytes", sa.LargeBinary, nullable=False),
)

dictionaries = sa.Table(
    "dictionaries",
    metadata,
    sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("digest", sa.LargeBinary(32), nullable=False),
    sa.Column("bytes", sa.LargeBinary, nullable=False),
)

checkpoints = sa.Table(
    "checkpoints",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

leaves = sa.Table(
    "leaves",
    metadata,
    sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("episode", Name, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index("ix_leaves_episode", "episode"),
)
"""The Merkle tree's leaves, from place 0 on: what checkpoints say of episodes. Appended to, never changed."""

erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("key", BigKey, primary_key=True, autoincrement=False),
    sa.Column("proof", sa.LargeBinary(32), nullable=False),
)
"""Of each erased event SHA-256(salt || body), which its link is made of (see `core.digest.link_over`)."""

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("cancelled_at", sa.BigInteger),
    sa.Column("selection_digest", sa.String, nullable=False),
    sa.Column("selection", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)

run_items = sa.Table(
    "run_items",
    metadata,
    sa.Column("id", BigKey, primary_key=True),
    sa.Column("run", sa.ForeignKey("runs.id"), nullable=False),
    sa.Column("parent", Name, nullable=False),
    sa.Column("verdict_seq", sa.Integer, nullable=False),
    sa.Column("repeat", sa.Integer, nullable=False),
    sa.Column("episode", Name, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    sa.UniqueConstraint("run", "parent", "verdict_seq", "repeat", name="uq_run_items_once"),
)

# Projections: what the events say, laid out for questions over many episodes. `projections.rebuild` makes them anew.

summaries = sa.Table(
    "summaries",
    metadata,
    sa.Column("number", sa.ForeignKey("episodes.number"), primary_key=True, autoincrement=False),
    sa.Column("projection", sa.SmallInteger, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("env", sa.String, nullable=False),
    sa.Column("task", sa.String, nullable=False),
    sa.Column("trial", sa.Integer, nullable=False),
    sa.Column("protocol", sa.String, nullable=False),
    sa.Column("weak", sa.String),
    sa.Column("strong", sa.String),
    sa.Column("labels", sa.Text, nullable=False),
    sa.Column("run", sa.String),
    sa.Column("parent", sa.String),
    sa.Column("origin", sa.String),
    sa.Column("status", sa.String),
    sa.Column("end_reason", sa.String),
    sa.Column("reward", sa.String),
    sa.Column("cost_usd", sa.String),
    *(
        sa.Column(name, sa.Integer, nullable=False)
        for name in (
            "steps",
            "segments",
            "reviews",
            "writes",
            "rejections",
            "unusable",
            "repairs",
            "weak_calls",
            "strong_calls",
        )
    ),
    sa.Index("ix_summaries_env_task", "env", "task"),
    sa.Index("ix_summaries_run", "run"),
    sa.Index("ix_summaries_projection", "projection"),
)
_PROBLEM = sa.text("problem IS NOT NULL")
sa.Index("ix_summaries_problem", summaries.c.number, sqlite_where=_PROBLEM, postgresql_where=_PROBLEM)

segments = sa.Table(
    "segments",
    metadata,
    sa.Column("number", sa.ForeignKey("episodes.number"), primary_key=True, autoincrement=False),
    sa.Column("segment", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("closed", sa.String),
    sa.Column("steps", sa.Integer, nullable=False),
    sa.Column("verdict_seq", sa.Integer),
    sa.Column("review_seq", sa.Integer),
    sa.Column("drafted", sa.Integer),
    sa.Column("accepted", sa.Integer),
    sa.Column("decision", sa.String),
    sa.Column("status", sa.String),
    sa.Column("cause", sa.Text),
    sa.Column("category", sa.String),
    sa.Column("reason", sa.Text),
    sa.Column("rejected_tool", sa.String),
    sa.Column("rejected_action", sa.Text),
    sa.Column("draft_reasoning", sa.Text),
    sa.Column("repair_kind", sa.String),
    sa.Column("repair_action", sa.Text),
    sa.Column("repair_outcome", sa.String),
    sa.Index("ix_segments_category_rejected_tool", "category", "rejected_tool"),
)

actions = sa.Table(
    "actions",
    metadata,
    sa.Column("number", sa.ForeignKey("episodes.number"), primary_key=True, autoincrement=False),
    sa.Column("position", sa.String, primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("tool", sa.String),
    sa.Column("arguments", sa.Text, nullable=False),
    sa.Column("effect_declared", sa.String, nullable=False),
    sa.Column("effect_by", sa.String),
    sa.Column("drafted_at", sa.BigInteger),
    sa.Column("held_seq", sa.Integer),
    sa.Column("verdict_seq", sa.Integer),
    sa.Column("authority", sa.String),
    sa.Column("reviewer_model", sa.String),
    sa.Column("requested_at", sa.BigInteger),
    sa.Column("completed_at", sa.BigInteger),
    sa.Column("outcome", sa.String, nullable=False),
    sa.Column("state_changed", sa.Boolean),
    sa.Column("result_digest", sa.String),
    sa.Column("started_by", sa.String, nullable=False),
    sa.Column("erased", sa.Boolean, nullable=False),
    sa.Index("ix_actions_tool_requested_at_drafted_at", "tool", "requested_at", "drafted_at"),
    sa.Index("ix_actions_requested_at_drafted_at", "requested_at", "drafted_at"),
)

search = sa.Table(
    "search",
    metadata,
    sa.Column("number", sa.ForeignKey("episodes.number"), primary_key=True, autoincrement=False),
    sa.Column("text", sa.Text, nullable=False),
)
