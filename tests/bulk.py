"""A log of any number of ended episodes of 60 events, written by SQL alone: for plans and times at scale.

Bodies and links are made up, so nothing verifies; headers, times, tools and projections are as in a recorded log: over
90 days, 40 tools, 15 actions an episode, a third of them writes, every fifth write drafted again and never sent.
"""

import sqlalchemy as sa

EVENTS, TOOLS = 60, 40
DAY_US = 86_400_000_000
BEGIN_US, SPAN_US = 1_735_689_600_000_000, 90 * DAY_US

SQLITE_SERIES = "(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {count}) SELECT i FROM s)"

_EPISODES = """
INSERT INTO episodes (number, episode, project, started_at, ended_at, events, head, writer_host, writer_pid,
                      writer_started, lease_until)
SELECT i, 'bulk-' || i, 'bulk', {begin} + i * CAST({step} AS BIGINT),
       {begin} + i * CAST({step} AS BIGINT) + {events} * 2500000, {events}, :link, 'host', 1, '1', 0 FROM {numbers}
"""
_SUMMARIES = """
INSERT INTO summaries (number, projection, env, task, trial, protocol, labels, status, steps, segments, reviews, writes,
                       rejections, unusable, repairs, weak_calls, strong_calls)
SELECT number, :projection, 'shop', 't', 0, 'specagent', '[]', 'completed', 15, 4, 4, 5, 1, 0, 1, 15, 4 FROM episodes
WHERE number > 0
"""
_EVENTS = """
INSERT INTO events (key, type, tool, lane, version, at, effect, authority, outcome, codec, payload, salt, link)
SELECT number * 1048576 + i,
       CASE i % 4 WHEN 3 THEN 9 ELSE 15 END,
       (SELECT id FROM tools WHERE name = 'tool' || ((number * 7 + i * 13) % {tools})),
       '', 1, started_at + i * 2500000,
       CASE WHEN (number * 31 + i * 17) % 3 = 0 THEN 'write' ELSE 'read' END,
       NULL, NULL, 0, :payload, :salt, :link
FROM episodes, {numbers} WHERE number > 0
"""
_ACTIONS = """
INSERT INTO actions (number, position, seq, kind, tool, arguments, effect_declared, drafted_at, requested_at, outcome,
                     started_by, erased)
SELECT key / 1048576, 's' || (key % 1048576) || '.1', key % 1048576, 'call', tools.name, '{{}}', 'write', at - 1, at,
       'ok', 'somebody@host', false
FROM events JOIN tools ON tools.id = events.tool WHERE type = 9 AND effect = 'write'
"""
_NEVER_SENT = """
INSERT INTO actions (number, position, seq, kind, tool, arguments, effect_declared, drafted_at, outcome, started_by,
                     erased)
SELECT number, replace(position, '.1', '.2'), seq, kind, tool, arguments, effect_declared, drafted_at, 'never',
       started_by, erased
FROM actions WHERE (number + seq) % 5 = 0
"""


def fill(connection: sa.Connection, episodes: int, projection: int) -> None:
    """Write that many episodes into an empty log."""
    sqlite = connection.dialect.name == "sqlite"

    def run(text: str, count: int = 0) -> None:
        numbers = (SQLITE_SERIES if sqlite else "generate_series(1, {count}) AS n(i)").format(count=count)
        given = {"begin": BEGIN_US, "step": SPAN_US // episodes, "events": EVENTS, "tools": TOOLS}
        statement = sa.text(text.format(numbers=numbers, **given))
        values = {"link": b"l" * 32, "salt": b"s" * 16, "payload": b"p" * 150, "projection": projection}
        connection.execute(statement, {name: values[name] for name in statement.compile().params})

    connection.execute(sa.text("INSERT INTO tools (name) VALUES (:name)"), [{"name": f"tool{n}"} for n in range(TOOLS)])
    run(_EPISODES, episodes)
    run(_SUMMARIES)
    run(_EVENTS, EVENTS - 1)
    run(_ACTIONS)
    run(_NEVER_SENT)
    connection.execute(sa.text("ANALYZE"))
