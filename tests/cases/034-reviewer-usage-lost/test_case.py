"""Case 034: the reviewer's tokens are counted, by role and by model; a re-verification's are its own."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from spectrace.audit.usage import usage_of
from spectrace.core.events import Event
from spectrace.core.types import Completion, Finish, Message, ToolCall, Usage
from tests.lending_desk import play, segment
from tests.playbook import reject, written

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LINES = [json.loads(line) for line in (CASE / "calls.jsonl").read_text().splitlines()]
USAGE = {line["role"]: Usage(input=line["usage"]["in"], output=line["usage"]["out"]) for line in LINES}
STEPS = segment(CASE / "segment.json")[0]
DRAFT = Message("assistant", "", tuple(ToolCall(f"c{n}", step.tool, step.arguments) for n, step in enumerate(STEPS)))
VERDICT = Completion(Message("assistant", reject(4)), usage=USAGE["verify"])
REPAIR = Completion(Message("assistant", written(Finish("Sorry."))), usage=USAGE["repair"])
AGAIN = replace(VERDICT, usage=USAGE["reverify"])


def played(*strong: Completion):
    return play([Completion(DRAFT, usage=USAGE["draft"])], strong or (VERDICT, REPAIR), native=True)


def spent(events: Iterable[Event]) -> dict[tuple[str, str], tuple[int, int | None, int | None]]:
    """Return (calls, input, output tokens) by (role, model)."""
    return {
        (one.role, one.who): (one.calls, one.tokens["input"].exact, one.tokens["output"].exact)
        for one in usage_of(events)
    }


def test_the_totals_of_each_role_and_model_are_those_of_its_calls():
    assert spent(played().events) == {
        ("drafter", "weak"): (1, 900, 120),
        ("reviewer", "strong"): (1, 1400, 31),
        ("repairer", "strong"): (1, 1450, 64),
    }


def test_a_re_verification_is_paid_for_by_itself_and_not_by_the_episode():
    desk = played()
    child = desk.reverified(AGAIN)[0].child
    episode = list(desk.store.read(desk.events[0].episode))

    assert spent(desk.store.read(child)) == {("reviewer", "strong"): (1, 1400, EXPECTED["reverify_out"])}
    strong = [out for (_, who), (_, _, out) in spent(episode).items() if who == "strong"]
    assert sum(strong) == EXPECTED["episode_strong_out"]


def test_a_review_that_was_asked_again_counts_every_attempt_apart():
    unusable = replace(VERDICT, message=Message("assistant", "Fine."), usage=Usage(input=1400, output=7))

    (review,) = [one for one in usage_of(played(unusable, VERDICT, REPAIR).events) if one.role == "reviewer"]

    assert (review.calls, review.asked_again, review.tokens["output"].exact) == (2, 1, 7 + 31)
