from dataclasses import replace

import pytest

from spectrace.audit.queries import Filters, Reader
from spectrace.audit.why import why_items
from spectrace.cli import story
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActCompleted, ActFailed, ActRequested, StepDrafted
from spectrace.core.fold import fold
from spectrace.core.types import Reply
from spectrace.store.memory import MemoryEventStore
from tests import collaborations, guesses
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import accept, reject
from tests.shop_log import REQUEST, recorded, reverified

HOSTILE = "\x1b[2J[red]x[/red]\u202e"


@pytest.fixture
def told(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")

    def tell(seq=None, **of_record) -> str:
        store = MemoryEventStore()
        reader, episode = Reader(store), recorded(store, **of_record)
        story.tell(reader.episode(episode), reader.why(episode, seq))
        return capsys.readouterr().out

    return tell


def test_a_story_goes_from_the_request_to_the_repairs_outcome(told):
    text = told()
    parts = (
        REQUEST,
        "segment 1: rejected",
        '✗ 1. cancel_order {"order_id": "W200"}  write  HELD: not executed',
        "step 1 of 1 is wrong, premature",
        "“find the customer first”",
        "Discarded: step 1; it never ran.",
        "Instead, inside the verdict",
        '➤ find_customer {"name_or_email": "Ana Silva"}',
        "→ C11 Ana Silva",
        "ended completed (finished), reward 1.0",
    )
    places = [text.find(part) for part in parts]

    assert (-1 in places, places) == (False, sorted(places)), text


def test_a_kept_prefix_is_marked_and_told(told):
    text = told(weak=[FIND, READ, CANCEL, DONE], strong=[reject(3, READ), accept()])

    assert "✓ 1. find_customer" in text
    assert "✗ 3. cancel_order" in text
    assert "Kept: steps 1 to 2. Discarded: step 3; it never ran." in text


def test_discarded_reads_had_run_and_changed_nothing(told):
    text = told(weak=[FIND, READ, CANCEL, DONE], strong=[reject(1, READ), accept()])

    assert "Discarded: steps 1 to 3; 2 reads had run, and changed nothing." in text


def _rewritten(change):
    """An episode whose discarded first step is FIND, as another program or an older spectrace may have logged it."""
    events = recorded_events(weak=[FIND, READ, CANCEL, DONE], strong=[reject(1, READ), accept()])
    return [replace(event, body=change(event.body)) for event in events]


def _first(body, kind):
    return isinstance(body, kind) and body.position == "s1.1"


def _moved(body):
    return replace(body, fingerprint_after="sha256:0") if _first(body, ActCompleted) else body


def _reply(body):
    if _first(body, StepDrafted | ActRequested):
        return replace(body, action=Reply("It is done."), effect="reply", tool=None)
    return body


def _blind(body):
    return replace(body, fingerprint_before=None, fingerprint_after=None) if isinstance(body, ActCompleted) else body


def _unanswered_write(body):
    if _first(body, StepDrafted | ActRequested):
        return replace(body, effect="write")
    if _first(body, ActCompleted):
        return ActFailed(
            request=body.request,
            position=body.position,
            effect="write",
            outcome="indeterminate",
            kind="timeout",
            error="no answer",
            latency_us=None,
            source="live",
            authority=body.authority,
            tool=body.tool,
        )
    return body


@pytest.mark.parametrize(
    ("change", "summary", "words"),
    [
        (_moved, "2 of them had run, and not without effect", "Step 1 had run and changed the state before"),
        (_reply, "2 of them had run, and not without effect", "Step 1 had been sent to the user before"),
        (_unanswered_write, "2 of them had run, and not without effect", "Step 1 had been sent as a write before"),
        (_blind, "2 reads had run; the environment does not say whether the state changed", None),
    ],
)
def test_what_a_discarded_step_had_done_is_not_denied(monkeypatch, capsys, change, summary, words):
    monkeypatch.setenv("COLUMNS", "160")
    events = _rewritten(change)
    (item,) = (one for one in why_items(events) if one.decision == "reject")
    story.tell(fold(events), [item])
    text = capsys.readouterr().out

    assert f"Discarded: steps 1 to 3; {summary}." in text
    assert "changed nothing" not in text
    assert words is None or words in text


def test_an_unusable_review_says_that_nothing_was_let_through(told):
    repair = '{"tool": "get_order", "arguments": {"order_id": "W200"}}'
    text = told(weak=[CANCEL, DONE], strong=["gibberish", "again", repair, accept()])

    assert "never lets a write through" in text
    assert "in a turn of its own" in text


def test_what_of_a_verdicts_form_was_passed_over_is_said(told):
    fenced = f"```json\n{reject(1, FIND, reason='find the customer first')}\n```"

    assert "the one asked for: a markdown fence around it" in told(strong=[fenced, accept(), accept()])
    assert "the one asked for" not in told()


def test_an_accepted_review_is_told_when_it_is_asked_for(told):
    text = told(seq=28)

    assert "segment 2: accepted" in text
    assert "executed after the verdict" in text


def test_an_episode_that_ended_without_its_repair_says_so(told):
    assert "No repair followed." in told(weak=[CANCEL], strong=[reject(1), "x", "y"])


def test_an_episode_without_rejections_says_so(told):
    assert "Nothing was rejected. 1 review, all accepting" in told(weak=[FIND, READ, DONE], strong=[accept()])
    assert "Nothing was reviewed" in told(weak=[DONE], protocol=WeakOnly())


def test_a_second_verdict_leads_to_the_drafts_that_it_judged(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "160")
    store = MemoryEventStore()
    episode = recorded(store)
    reverified(store, episode, "again", [reject(1, FIND), accept(), accept()])
    (child,) = (one.episode for one in Reader(store).episodes(Filters(run=("again",))))
    story.tell(Reader(store).episode(child), Reader(store).why(child))
    text = capsys.readouterr().out

    assert f"A second verdict on what was drafted in {episode}" in text
    assert "step 1 of 1 is wrong" in text
    assert "None" not in text


def test_hostile_text_is_told_literally(told):
    text = told(weak=[CANCEL, READ, CANCEL, DONE], strong=[reject(1, FIND, reason=HOSTILE), accept(), accept()])

    assert "“\\x1b[2J[red]x[/red]\\u202e”" in text


@pytest.mark.parametrize("width", [80, 200])
def test_a_story_fits_the_terminal(told, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))

    assert max(len(row) for row in told().splitlines()) <= width


def lines_of(events, capsys):
    story.tell(fold(events), [])
    return capsys.readouterr().out


def test_the_story_of_guesses_says_how_many_were_taken_and_how_many_ran_in_vain(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")

    assert "3 steps guessed ahead: 1 taken, 1 had run in vain." in lines_of(guesses.events(), capsys)


def test_the_story_of_a_collaboration_says_the_plan_who_drove_and_why(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    text = lines_of(guesses.events(collaborations.bodies()), capsys)
    told = (
        "Plan of the strong model  [1]\n  Find the order, then cancel it.",
        "From segment 1 on the weak model drives, as planned  [2]",
        "The weak model judges itself after segment 1: stagnation  [8]\n  the same again",
        "From segment 2 on the strong model takes over for 2 steps, after stagnation  [9]",
        "A reply of the actor was read although it breaks the form  [12]\n  a fence around the JSON",
    )

    places = [text.find(words) for words in told]
    assert (-1 in places, places) == (False, sorted(places)), text


def test_the_story_of_guesses_says_what_became_of_each(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    text = lines_of(guesses.events(), capsys)

    assert '✓ find_order {"id": "W2"}  taken  [1]' in text
    assert '· find_order {"id": "W3"}  had run in vain  [3]' in text
    assert '· cancel_order {"id": "W2"}  [7]' in text


def test_the_story_of_a_scored_verdict_has_the_probability_of_each_step(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    events = guesses.events(collaborations.scored())
    story.tell(fold(events), why_items(events))
    text = capsys.readouterr().out

    assert '✓ 1. find_order {"id": "W2"}  read  P(yes) 0.990000' in text
    assert '✗ 2. cancel_order {"id": "W2"}  write  P(yes) 0.120000  HELD' in text
