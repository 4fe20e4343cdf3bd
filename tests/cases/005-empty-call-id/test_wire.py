"""Case 005, the reply: a call without an id gets one of ours, made from its position, and marked.

The stored history of this case is read by the import of chat files, and tested there.
"""

import json
from pathlib import Path

from spectrace.core.events import ActCompleted
from tests.lending_desk import DONE, play
from tests.playbook import accept
from tests.wire import received

CASE = Path(__file__).parent


def test_each_call_gets_an_id_that_says_what_it_is():
    answer = received(CASE / "response.json")

    assert [(call.id, call.name) for call in answer.message.calls] == [
        ("synthetic_1", "find_member"),
        ("synthetic_2", "branch_hours"),
    ]
    assert json.loads(answer.server)["anomalies"] == [
        "call 1: it has no id; 'synthetic_1' was made from its position",
        "call 2: it has no id; 'synthetic_2' was made from its position",
    ]


def test_the_same_bytes_give_the_same_ids():
    assert received(CASE / "response.json").message == received(CASE / "response.json").message


def test_each_result_is_paired_with_its_own_call():
    outputs = {"find_member": '{"member_id":88}', "branch_hours": '{"open":"09:00"}'}
    desk = play([received(CASE / "response.json"), DONE], [accept()], outputs, native=True)

    assert [(act.tool, act.observation.content) for act in desk.bodies(ActCompleted) if act.tool] == [*outputs.items()]
    assert desk.replayed().result == "same"
