"""Facts say what their steps and verdicts hold, and nothing else."""

from spectrace.core import facts
from spectrace.core.commands import Acted
from spectrace.core.fold import verdict_of
from spectrace.core.types import Effect, Finish, Observation, Step, Verdict
from tests.playbook import change, look


def test_a_drafted_and_a_held_step_name_their_tool_and_effect():
    step = Step("s2.3", change(), Effect.WRITE)
    drafted, held = facts.step_drafted(step, 2, 3, 17, None), facts.action_held(step, 2, 3)

    assert (drafted.tool, drafted.effect, drafted.request, drafted.objection) == ("change", "write", 17, None)
    assert (held.tool, held.position, held.action) == ("change", "s2.3", change())
    assert facts.step_drafted(Step("s1.1", Finish("x"), Effect.FINISH), 1, 1, 2, "no").tool is None


def test_a_verdict_survives_its_fact():
    verdict = Verdict(3, 1, "repaired", "other", "no", look(), "fenced", "raw")
    given = facts.verdict_given(verdict, 4, 9)

    assert verdict_of(given) == verdict
    assert (given.outcome, given.segment, given.review) == ("reject", 4, 9)


def test_an_observed_effect_is_an_unreviewed_write():
    acted = Acted(Observation("x"), 5, "a", "b")
    observed = facts.effect_observed(Step("s1.1", look(), Effect.READ), acted)

    assert (observed.effect, observed.authority, observed.request) == ("write", "unreviewed", 5)


def test_repairs_say_their_kind_and_what_was_never_sent():
    fused = facts.fused_repair(1, 8, look())
    corrective = facts.corrective_repair(1, None, (look(), change()), (None, "no"), "not seen")

    assert (fused.kind, fused.verdict, fused.objections) == ("fused", 8, (None,))
    assert (corrective.kind, corrective.verdict, corrective.fused_unusable) == ("corrective", None, "not seen")
    assert corrective.objections == (None, "no")
