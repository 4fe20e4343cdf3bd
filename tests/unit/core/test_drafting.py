"""What the drafter is shown, beside the dialogues in test_specagent."""

import json

from spectrace.core.specagent import SpecAgent
from tests.playbook import Playbook, change, look, reject, setup


def prompt(played: Playbook) -> str:
    return json.dumps([message.content for message in played.command.request.messages])


def rejected(**options: object) -> Playbook:
    played = Playbook(SpecAgent(**options).run(setup())).begins().says("weak", change("Z"))
    return played.says("strong", reject(1, look("B"), reason="no such Z")).objects(None).observes("B is blue")


def test_the_drafter_is_told_nothing_of_a_rejection():
    assert "no such Z" not in prompt(rejected())


def test_the_drafter_is_told_the_reason_where_the_option_says_so():
    messages = [message.content for message in rejected(feedback="reason").command.request.messages]

    told = next(number for number, text in enumerate(messages) if "no such Z" in text)
    assert "B is blue" in messages[told + 2], "it stands where the step stood: before the repair"


def test_the_strong_model_is_not_told_what_the_drafter_is_told():
    played = rejected(feedback="reason").says("weak", change("B"))

    assert played.command.who == "strong"
    assert "no such Z" not in prompt(played)
