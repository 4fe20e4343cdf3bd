"""`spectrace why`: why drafts were rejected, told from the request to what was done instead."""

import click

from spectrace.audit.answers import WhyItem
from spectrace.audit.lines import plain
from spectrace.audit.reading import Unread
from spectrace.cli import console, document, story
from spectrace.cli.options import db_option, json_option, reading
from spectrace.cli.select import event_of


@click.command()
@click.argument("event", metavar="EP[:SEQ]")
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, event: str, db: str | None, *, as_json: bool) -> None:
    """Explain every rejection of an episode, or the review that event SEQ belongs to."""
    name, seq = event_of(event)
    lost: list[Unread] = []
    with reading(db) as reader:
        episode = reader.resolve(name)
        items = reader.why(episode, seq, lost=lost)
        if as_json:
            document.write("why", [item(one) for one in items])
        elif items or not lost:
            story.tell(reader.episode(episode), items)
    ctx.exit(console.lost(lost))


def item(one: WhyItem) -> dict[str, object]:
    """Return the JSON item of a review."""
    rejected = one.rejected
    return {
        "episode": one.episode,
        "segment": one.segment,
        "verdict_seq": one.verdict_seq,
        "review_seq": one.review_seq,
        "drafted": one.drafted,
        "accepted": one.accepted,
        "status": one.status,
        "cause": one.cause,
        "category": one.category,
        "reason": one.reason,
        "rejected_action": plain(rejected.action) if rejected else None,
        "draft_reasoning": rejected.reasoning if rejected else None,
        "repair_kind": one.repair_kind,
        "repair_action": plain(one.repair[0].action) if one.repair else None,
        "repair_outcome": one.repair_outcome,
        "decision": one.decision,
        "edited_by": one.edited_by,
        "request": one.request,
        "closed": one.closed,
        "fused_unusable": one.fused_unusable,
        "steps": [plain(step) for step in one.steps],
        "repair": [plain(step) for step in one.repair],
    }
