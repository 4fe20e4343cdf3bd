"""What was discarded is shown to no model any more: by its place, as it was rendered, or word for word."""

from dataclasses import replace

from spectrace.audit.rules import RULES, violations
from spectrace.core.events import GenerateRequested, StepsDiscarded
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Message, Observation
from tests.altered import answer_to, each, first, looks, put
from tests.properties.played import SHOWN, play
from tests.properties.rehearsed import REHEARSED
from tests.properties.scripts import Judged, Script

SCRIPT = Script(weak=("read", "write", "write"), strong=("read",), verdicts=(Judged("reject", "first"),))
EVENTS = play(SCRIPT, SpecAgent, {}).events
GONE = first(EVENTS, StepsDiscarded)
READ = answer_to(EVENTS, looks(EVENTS)[0])
CELLAR = "nobody may know that the cellar is full of gold"


def asked(seq):
    return next(e for e in each(EVENTS, GenerateRequested) if e.seq > seq)


def showing(message, at=None, events=EVENTS):
    at = at or asked(GONE.seq)
    return put(events, at.seq, messages=(*at.body.messages, message))


def found(events):
    return [(one.seq, one.detail) for one in violations(events, [RULES["discarded_observation_used"]])]


SAID = [(asked(GONE.seq).seq, f"the prompt shows the result of s1.1, which event {GONE.seq} discarded")]
SEEN = put(EVENTS, READ.seq, observation=Observation(CELLAR))


def test_a_result_at_its_place_is_found():
    assert found(showing(Message("tool", "changed meanwhile", (), "s1.1"))) == SAID


def test_a_result_as_it_was_rendered_is_found_however_short_it_is():
    assert found(showing(Message("user", f"[s1.1] {READ.body.observation.content}"))) == SAID


def test_a_result_inside_other_words_is_found():
    assert found(showing(Message("user", f"Remember: {CELLAR}. Go on."), events=SEEN)) == SAID


def test_a_result_that_is_shown_cut_is_found():
    long = CELLAR * 20
    prompts = replace(Prompts(), observation_limit=SHOWN)
    mark = f"[cut: {len(long) - SHOWN} of {len(long)} characters not shown]"
    shown = f"[s1.1] {long[:80]}\n{mark}\n{long[-40:]}"
    events = put(put(EVENTS, READ.seq, observation=Observation(long)), 0, prompts=prompts.to_json())

    assert found(showing(Message("user", shown), events=events)) == SAID


def test_before_it_was_discarded_it_may_be_shown():
    before = asked(READ.seq)

    assert before.seq < GONE.seq
    assert found(showing(Message("user", CELLAR), at=before, events=SEEN)) == []


def test_what_a_step_that_stayed_has_read_as_well_may_be_shown():
    kept = answer_to(EVENTS, looks(EVENTS)[1])
    both = put(SEEN, kept.seq, observation=Observation(CELLAR))

    assert found(showing(Message("user", f"Remember: {CELLAR}"), events=both)) == []


def test_what_the_user_model_is_asked_is_no_prompt_of_the_agents():
    at = asked(GONE.seq)
    other = put(SEEN, at.seq, who="user")

    assert found(put(other, at.seq, messages=(Message("user", CELLAR),))) == []


def test_each_step_is_named_once():
    last = each(EVENTS, GenerateRequested)[-1]
    twice = showing(Message("user", CELLAR), at=last, events=showing(Message("user", CELLAR), events=SEEN))

    assert found(twice) == SAID


def test_the_same_look_up_again_that_is_discarded_in_turn_was_shown_rightly():
    verdicts = (Judged("reject", "first"), Judged("reject", "first"))
    again = Script(weak=("again", "read", "write") * 2, strong=("read", "read"), verdicts=verdicts)

    assert violations(play(again, SpecAgent, {}).events) == []


def test_prompts_without_messages_show_nothing():
    bare = [replace(e, body=replace(e.body, messages=())) if isinstance(e.body, GenerateRequested) else e for e in SEEN]

    assert found(bare) == []


def test_no_rehearsed_episode_shows_what_it_discarded():
    for script, options in REHEARSED:
        assert found(play(script, SpecAgent, options).events) == []
