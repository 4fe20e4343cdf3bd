from dataclasses import replace

from spectrace.cli.console import Progress
from spectrace.cli.reverify_watch import PassWatch
from spectrace.core.events import EpisodeEnded, EpisodeStarted, Parent, Totals, VerdictGiven
from spectrace.runs.pass_plan import Part
from spectrace.runs.passes import BUSY
from tests.episodes import recorded_events

GIVEN = VerdictGiven(
    outcome="accept",
    segment=1,
    drafted=1,
    accepted=1,
    category=None,
    reason=None,
    replacement=None,
    status="ok",
    cause=None,
    raw="",
    review=1,
)


def started(repeat):
    first = recorded_events()[0].body
    assert isinstance(first, EpisodeStarted)
    return replace(first, parent=Parent("reverify", "ep1", 9, "again"), options=f'{{"repeat": {repeat}}}')


def ended(outcome, reason):
    return EpisodeEnded(outcome=outcome, reason=reason, answer=None, reward=None, totals=Totals())


def test_a_pass_is_noted_as_it_ends_with_what_was_said_and_how_far_the_whole_is(capsys):
    watch = PassWatch(Progress(None), 3)
    for seq, body in enumerate([started(2), GIVEN, replace(GIVEN, outcome="reject"), ended("completed", "reviewed")]):
        watch("child", seq, body)
    for seq, body in enumerate([started(1), ended("failed", "model_strong_server")]):
        watch("other", seq, body)
    said = capsys.readouterr().err.splitlines()

    assert said[0].startswith("ep1  repeat 2  1 accept, 1 reject  [2 of 3, ")
    assert said[1].startswith("ep1  no verdict  failed (model_strong_server)  [2 of 3, ")


def test_troubles_are_said_but_not_without_end():
    watch = PassWatch(Progress(None), 99)
    for number in range(23):
        watch.part(Part(f"ep{number}", 1 + number % 2, why="down" if number else None))
    said = watch.say_troubles()

    assert said[0] == "ep1 was not judged to its end (repeat 2): down"
    assert said[1] == "ep2 was not judged to its end: down"
    assert said[-1] == "2 parts more were not judged to the end."
    assert len(said) == 21


def test_what_another_process_is_judging_is_no_trouble_but_counted():
    watch = PassWatch(Progress(None), 9)
    for why in (None, BUSY, BUSY):
        watch.part(Part("ep1", 1, why=why))

    assert (watch.say_troubles(), watch.elsewhere) == ([], 2)
