"""Case 034: the reviewer's tokens are counted, by role and by model; a re-verification's are its own."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from spectrace.core.events import Event, GenerateCompleted, GenerateRequested
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


def spent(events: Iterable[Event]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return the (input, output) tokens of every call by (role, model)."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    asked = {}
    for event in events:
        match event.body:
            case GenerateRequested():
                asked[event.seq] = event.body
            case GenerateCompleted(usage=usage):
                question = asked[event.body.request]
                found.setdefault((question.role, question.who), []).append((usage.input, usage.output))
    return found


def test_the_totals_of_each_role_and_model_are_those_of_its_calls():
    assert spent(played().events) == {
        ("drafter", "weak"): [(900, 120)],
        ("reviewer", "strong"): [(1400, 31)],
        ("repairer", "strong"): [(1450, 64)],
    }


def test_a_re_verification_is_paid_for_by_itself_and_not_by_the_episode():
    desk = played()
    child = desk.reverified(AGAIN)[0].child
    episode = list(desk.store.read(desk.events[0].episode))

    assert spent(desk.store.read(child)) == {("reviewer", "strong"): [(1400, EXPECTED["reverify_out"])]}
    strong = [calls for (_, who), calls in spent(episode).items() if who == "strong"]
    assert sum(out for calls in strong for _, out in calls) == EXPECTED["episode_strong_out"]


def test_a_review_that_was_asked_again_counts_every_attempt_apart():
    unusable = replace(VERDICT, message=Message("assistant", "Fine."), usage=Usage(input=1400, output=7))

    assert spent(played(unusable, VERDICT, REPAIR).events)["reviewer", "strong"] == [(1400, 7), (1400, 31)]
