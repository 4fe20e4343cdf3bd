from dataclasses import replace

import pytest

from spectrace.audit.surroundings import differences, disagreement
from spectrace.core.types import Effect
from tests.episodes import recorded_events

BODY = recorded_events()[0].body
FIRST, *REST = BODY.tools


def tools(*first):
    return replace(BODY, tools=(*first, *REST))


def facts(**changes):
    return replace(BODY, environment=replace(BODY.environment, **changes))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (BODY, []),
        (
            tools(replace(FIRST, effect=Effect.WRITE)),
            [f"tool {FIRST.name} (effect read, now write)"],
        ),
        (tools(replace(FIRST, description="x", parameters="{}")), [f"tool {FIRST.name} (description, parameters)"]),
        (tools(), [f"tool {FIRST.name} (gone)"]),
        (tools(FIRST, replace(FIRST, name="more")), ["tool more (new)"]),
        (replace(BODY, tools=(*REST, FIRST)), ["the order of the tools"]),
        (replace(BODY, instructions="Be bad."), ["the instructions"]),
        (replace(BODY, task_digest="sha256:x"), ["the task's request or data"]),
        (facts(data=(("desk", "sha256:x"),)), ["the data desk"]),
        (facts(fingerprint="sha256:x"), ["the initial state"]),
        (facts(fingerprint="sha256:x", restore="none"), []),
        (facts(version="9"), []),
    ],
)
def test_what_differs_is_named(now, said):
    found = differences(BODY, now)

    assert len(found) == len(said)
    assert all(one.startswith(start) for one, start in zip(found, said, strict=True))


def test_episodes_of_one_environment_do_not_disagree():
    assert disagreement([("a", BODY), ("b", BODY)]) is None


def test_episodes_of_one_task_that_disagree_are_named_with_what_differs():
    apart = [("a", BODY), ("b", BODY), ("c", replace(BODY, instructions="x"))]

    assert disagreement(apart) == "its episodes b and c of 'cancel-own' met different environments: the instructions"


def test_of_two_tasks_only_the_tools_are_held_together():
    new = replace(BODY, task=replace(BODY.task, id="new"), task_digest="sha256:x", instructions="x")

    assert disagreement([("a", BODY), ("b", new)]) is None
    assert disagreement([("a", BODY), ("b", replace(new, tools=(FIRST,)))]).startswith(
        "its episodes a and b of 'cancel-own' and 'new' met different environments: tool "
    )
