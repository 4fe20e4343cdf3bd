"""What the dialogues of SpecAgent share: a play, and its facts in short."""

from spectrace.core.events import ReplyUnusable, SegmentClosed, SegmentCommitted, StepsDiscarded
from spectrace.core.specagent import SpecAgent
from tests.dialogues.logged import Logged, started
from tests.playbook import Playbook, setup

PLAYED: list[Logged] = []
"""The plays of the test that runs: `conftest.py` asks the audit's rules of each."""


def play(options: SpecAgent | None = None, **of_setup: object) -> Playbook:
    protocol, desk = options or SpecAgent(), setup(**of_setup)
    played = Logged(protocol.run(desk), first=started(desk, protocol))
    PLAYED.append(played)
    return played


def closed(played: Playbook) -> list[str]:
    return [fact.reason for fact in played.told(SegmentClosed)]


def committed(played: Playbook) -> list[tuple[int, int, int, str]]:
    return [(f.segment, f.start, f.end, f.reviewed) for f in played.told(SegmentCommitted)]


def discarded(played: Playbook) -> list[tuple[int, int, int, str]]:
    return [(f.segment, f.start, f.end, f.reason) for f in played.told(StepsDiscarded)]


def unusable(played: Playbook) -> list[str]:
    return [fact.next for fact in played.told(ReplyUnusable)]
