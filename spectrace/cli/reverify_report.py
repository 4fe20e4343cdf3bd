"""What `reverify` says: before it begins what it will take, afterwards what was judged and what is left; its items."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from spectrace.audit.derived import anchors
from spectrace.audit.lines import counted
from spectrace.audit.near_threshold import probabilities
from spectrace.audit.passes import Answer, Pass
from spectrace.audit.queries import Reader
from spectrace.audit.visible import shortened
from spectrace.core.money import dollars
from spectrace.core.types import ModelFacts, Verdict
from spectrace.runs.pass_estimate import Estimate
from spectrace.runs.pass_plan import Plan
from spectrace.runs.pass_source import CANCELLED

_SERVED = ("anthropic:", "openai:", "sglang:")
_THOUSAND, _MILLION = 1_000, 1_000_000
_CAUSE = 120
"""Characters of a recorded cause that are told."""


def before(found: Estimate, plan: Plan, facts: ModelFacts) -> Iterator[str]:
    """Yield what a run will take, in sentences."""
    times = f", each judged {plan.repeat} times" if plan.repeat > 1 else ""
    rejected = "rejected " if plan.only_rejected else ""
    once = found.reviews // plan.repeat
    yield f"Run {plan.run}: {counted(once, rejected + 'review')} of {counted(found.episodes, 'episode')}{times}."
    if found.before:
        yield f"{_reviews(found.before)} judged before."
    if found.left_out:
        yield f"{_reviews(found.left_out)} left out: {plan.verifier} says nothing of them."
    if found.parents:
        yield (
            f"{_reviews(found.parents)} left to the episodes that they were taken over from: what a fork or a resumed "
            "episode has from its parent is judged there."
        )
    for episode, why in list(found.unread.items())[:3]:
        yield f"Episode {episode} cannot be judged: {why}"
    if len(found.unread) > 3:  # noqa: PLR2004 - enough to look
        yield f"{len(found.unread) - 3} more episodes cannot be judged."
    if found.calls:
        yield f"It will take {counted(found.calls, 'call')}{_reasons(found)}{_tokens(found)}{_price(found, facts)}."
        if plan.verdict == "scored":
            yield f"Verdicts are scored at {plan.threshold}: what is accepted decodes nothing."


def _reviews(number: int) -> str:
    return f"{counted(number, 'review')} {'was' if number == 1 else 'were'}"


def _reasons(found: Estimate) -> str:
    if not found.reasons:
        return ""
    return f" and {found.reasons} more for reasons, if what was rejected is rejected again"


def _tokens(found: Estimate) -> str:
    if not found.prompt_tokens:
        return ""
    guessed = found.calls - found.counted
    how = [f"of {found.counted} counted when they were recorded"] if found.counted else []
    how += [f"of {guessed} a token taken for 4 characters"] if guessed else []
    return f", about {_short(found.prompt_tokens)} prompt tokens ({', '.join(how)})"


def _price(found: Estimate, facts: ModelFacts) -> str:
    cost = found.micro_usd(facts)
    if cost is None or not found.prompt_tokens:
        return ""
    if not cost:
        return ", for nothing"
    what = "for the prompts alone, " if not found.written else ""
    return f", about {dollars(cost)} USD ({what}nothing cached)"


def _short(number: int) -> str:
    if number >= _MILLION:
        return f"{number / _MILLION:.1f} million"
    return f"{number / _THOUSAND:.0f} thousand" if number >= 10 * _THOUSAND else str(number)


def after(found: Estimate, done: Pass, new: int, stopped: str | None) -> Iterator[str]:
    """Yield what was judged, and what is left, in sentences."""
    left = left_of(found, done)
    said = [f"judged now {new}", f"before {max(_answered(done) - new, 0)}", f"left {left}"]
    said += [f"left out {found.left_out}"] if found.left_out else []
    yield f"{counted(found.reviews, 'review')}: {', '.join(said)}."
    causes = [one.verdict.cause for one in done.answers if one.verdict.status == "unusable"]
    if causes and len(causes) == len(done.answers):
        yield f"Every verdict was unusable{_most_frequent(causes)}."
    if left or found.unread:
        why = f" ({STOPS.get(stopped, stopped)})" if stopped is not None else ""
        yield f"Not all is judged{why}.{'' if stopped == CANCELLED else _goes_on(done)}"


def _most_frequent(causes: Sequence[str | None]) -> str:
    cause, times = Counter(causes).most_common(1)[0]
    which = "" if times == len(causes) else f"{times} of them "
    return "" if cause is None else f": {which}{shortened(cause, _CAUSE)}"


def _goes_on(done: Pass) -> str:
    prompts = " --prompts FILE" if done.settings.get("prompts") is not None else ""
    verifier = typed(str(done.settings.get("verifier")))
    return f" `spectrace reverify --name {done.run} --verifier {verifier}{prompts}` goes on."


def typed(verifier: str) -> str:
    """Return a run's verifier as it is typed again: where it is reached is not recorded."""
    return f"{verifier}[@URL]" if verifier.startswith(_SERVED) else verifier


def left_of(found: Estimate, done: Pass) -> int:
    """Return how many reviews have no answer, whoever was to give it."""
    return max(found.reviews - found.left_out - _answered(done), 0)


def _answered(done: Pass) -> int:
    return len(done.answers) + len(done.too_long)


STOPS: Mapping[str, str] = {
    "run_max_cost_usd": "the money is spent: --max-cost-usd",
    "cost_unknown": "a server counts no tokens, so that nobody can keep to --max-cost-usd",
    CANCELLED: "the run was cancelled",
}


def items(reader: Reader, found: Pass) -> list[dict[str, object]]:
    """Return the JSON items of a run; a derived review's has its anchors: what it holds, and the episode's grade."""
    known = anchors(reader, found.answers)
    return [item(found.run, one, *known.get((one.episode, one.segment), (None, None))) for one in found.answers]


def item(run: str, one: Answer, held: str | None = None, grade: str | None = None) -> dict[str, object]:
    """Return the JSON item of a review judged again."""
    return {
        "run": run,
        "episode": one.episode,
        "child": one.child,
        "repeat": one.repeat,
        "segment": one.segment,
        "verdict_seq": one.verdict_seq,
        "derived": one.derived,
        "recorded": None if one.recorded is None else _verdict(one.recorded),
        "new": _verdict(one.verdict),
        "agree": one.agree,
        "counterfactual": one.counterfactual,
        "threshold": one.threshold,
        "held": held,
        "grade": grade,
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "decision": verdict.decision,
        "drafted": verdict.drafted,
        "accepted": verdict.accepted,
        "status": verdict.status,
        "category": verdict.category,
        "reason": verdict.reason,
        "cause": verdict.cause,
        "probabilities": _probabilities(verdict),
    }


def _probabilities(verdict: Verdict) -> list[str | None] | None:
    """Return a scored verdict's decimal texts; None in place of what is none, as a log from elsewhere may have."""
    if verdict.probabilities is None:
        return None
    return [one if isinstance(one, str) else None for one in probabilities(verdict)]
