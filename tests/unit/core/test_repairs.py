"""What a corrective turn is shown. The branches of a repair are dialogues in test_specagent."""

from spectrace.core.events import RepairMade
from spectrace.core.specagent import SpecAgent
from tests.playbook import Playbook, change, look, reject, setup


def question(played: Playbook) -> str:
    return played.command.request.messages[-1].content


def rejected(**options: object) -> Playbook:
    played = Playbook(SpecAgent(**options).run(setup())).begins().says("weak", look()).observes()
    return played.says("weak", change("Z")).says("strong", reject(2, reason="no such Z"))


def test_the_reason_is_shown_and_nothing_else():
    asked = question(rejected())

    assert "no such Z" in asked
    assert "change" not in asked


def test_nothing_is_shown_where_the_option_says_so():
    assert "no such Z" not in question(rejected(repair_sees="nothing"))


def test_the_rejected_step_is_shown_where_the_option_says_so():
    asked = question(rejected(repair_sees="draft"))

    assert '{"tool": "change", "arguments": {"id": "Z"}}' in asked
    assert "no such Z" in asked


def test_an_unusable_verdict_rejected_nothing_and_shows_nothing():
    played = Playbook(SpecAgent(repair_sees="draft").run(setup())).begins().says("weak", change("Z"))
    played.says("strong", "hm").says("strong", "hm")

    assert '"Z"' not in question(played)


def test_a_repair_names_the_verdict_that_it_follows():
    played = rejected().says("strong", look("B"))

    assert played.told(RepairMade)[0].verdict is not None
