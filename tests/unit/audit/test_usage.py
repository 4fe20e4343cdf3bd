import pytest

from spectrace.audit.usage import usage_of
from spectrace.core.events import Event, ReplyUnusable
from spectrace.core.money import Spent
from spectrace.core.types import Attempt, Usage
from tests.model_calls import PRICE, answered, asked, failed, started


def used(*bodies, **prices):
    told = [started(**(prices or {"strong": PRICE, "weak": None})), *bodies]
    return usage_of(Event("e", seq, "", seq, body) for seq, body in enumerate(told))


def counts(one):
    return {name: (tokens.known, tokens.unknown) for name, tokens in one.tokens.items()}


def test_calls_are_summed_by_role_and_model():
    found = used(
        asked("strong", "reviewer"), answered(1, Usage(100, 10, 5), role="reviewer"),
        asked("strong", "repairer"), answered(3, Usage(200, 20, 7), role="repairer"),
        asked("strong", "reviewer"), answered(5, Usage(300, 30, 9), role="reviewer"),
    )  # fmt: skip

    assert [(one.role, one.who, one.model, one.calls) for one in found] == [
        ("reviewer", "strong", "strong", 2),
        ("repairer", "strong", "strong", 1),
    ]
    assert counts(found[0]) == {"input": (400, 0), "cached": (40, 0), "output": (14, 0), "reasoning": (0, 2)}


def test_a_count_that_nobody_said_is_unknown_and_not_zero():
    (one,) = used(asked("weak"), answered(1, Usage(100)), asked("weak"), answered(3, Usage(50, 0, 5)))

    assert (one.tokens["input"].exact, one.tokens["output"].exact) == (150, None)
    assert (one.tokens["output"].known, one.tokens["output"].unknown) == (5, 1)


def test_retries_are_attempts_of_one_call():
    tries = (Attempt(0, 5, "timeout"), Attempt(9, 5, "busy"), Attempt(20, 5))
    (one,) = used(asked("strong"), answered(1, Usage(1, 0, 1), attempts=tries), asked("strong"), answered(3, Usage()))

    assert (one.calls, one.attempts, one.asked_again) == (2, 4, 0)


def test_what_is_asked_again_is_a_call_that_is_marked():
    unusable = ReplyUnusable(role="reviewer", request=1, cause="no JSON", next="asked_again")
    (one,) = used(
        asked("strong", "reviewer"), answered(1, Usage(1, 0, 1), role="reviewer"), unusable,
        asked("strong", "reviewer"), answered(4, Usage(1, 0, 1), role="reviewer"),
        asked("strong", "reviewer"), answered(6, Usage(1, 0, 1), role="reviewer"),
    )  # fmt: skip

    assert (one.calls, one.asked_again) == (3, 1)


def test_a_failed_call_is_counted():
    (one,) = used(asked("strong"), failed(1, "timeout", Usage()))

    assert (one.calls, one.failed, one.tokens["input"].exact) == (1, 1, None)


@pytest.mark.parametrize(("kind", "attempts"), [("budget", 0), ("refused", 1), ("context", 1), ("unreachable", 1)])
def test_a_call_that_was_never_billed_used_nothing(kind, attempts):
    (one,) = used(asked("strong"), answered(1, Usage(7, 1, 2, 0)), asked("strong"), failed(3, kind, Usage()))

    assert (one.calls, one.failed, one.attempts) == (2, 1, 1 + attempts)
    assert counts(one) == {"input": (7, 0), "cached": (1, 0), "output": (2, 0), "reasoning": (0, 0)}


@pytest.mark.parametrize(("source", "own"), [("live", True), ("import", True), ("record", False), ("cache", False)])
def test_what_was_not_asked_for_this_episode_stands_apart(source, own):
    (one,) = used(asked("strong"), answered(1, Usage(1, 0, 1), source))

    assert one.own is own


def test_each_role_and_model_has_its_cost():
    strong, weak = used(
        asked("strong"), answered(1, Usage(100, 0, 10)), asked("weak"), answered(3, Usage(100, 0, 10))
    )  # fmt: skip

    assert (strong.spent, weak.spent) == (Spent(450, 1), Spent(0, 0, 1))
