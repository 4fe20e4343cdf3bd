"""How the figures of re-verifications were made: a paragraph of whole sentences, fit for a paper.

All of it is read from the record (the children of the runs, not their settings), so a bundle says the same. What the
intervals are is taken from the figures themselves. Names in it may be recorded text: whoever draws it makes it visible.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectrace import __version__
from spectrace.audit.derived import cells
from spectrace.audit.lines import counted
from spectrace.audit.near_threshold import MARGIN
from spectrace.audit.passes import Made
from spectrace.audit.reverified import Judged, Reverified
from spectrace.audit.visible import shortened
from spectrace.core.types import ModelFacts
from spectrace.stats.estimates import Estimate
from spectrace.stats.judgements import Review

_SHORT = 19
"""Characters of a digest that tell it apart: its tag and 12 digits."""
_LONG = 80
"""Characters of a fact that are told."""
_FACTS = 6
"""Facts of a server that are told; all of them are in the record."""


def methods(found: Reverified) -> str:
    """Return the paragraph."""
    told = [sentence for one in found.runs for sentence in _run(one)]
    return " ".join([*told, *_statistics(found), f"The figures were computed by spectrace {__version__}."])


def _run(one: Judged) -> Iterator[str]:
    made = one.found.made
    reviews = one.reviews
    tasks, episodes = len({each.task for each in reviews}), len({each.episode for each in reviews})
    asked = len({(each.episode, each.number) for each in reviews})
    derived = len({(each.episode, each.number) for each in reviews if each.recorded is None})
    what = "recorded rejection" if one.found.only_rejected else "review"
    selected = counted(len(one.found.selection), "selected episode")
    yield (
        f"Run {one.run} put {counted(asked, what)} from {counted(episodes, 'episode')} of "
        f"{counted(tasks, 'task')} ({', '.join(sorted({each.environment for each in made})) or 'no environment'}) to "
        f"{_verifiers(one.found.verifiers)}, each in the context in which it was recorded, with {_prompts(made)}."
    )
    yield f"Its data set is {selected} with the digest {one.found.selection_digest}."
    if derived:
        yield (
            f"Of these reviews {derived} {'is' if derived == 1 else 'are'} derived: nobody had judged the segment, "
            "which the protocol's own rule cut from a recording without reviews, and the prompt ends at its write."
        )
    yield _kinds(reviews, one.found.repeats)
    yield from _read(one)
    versions = ", ".join(sorted({each.spectrace for each in made})) or "of no known version"
    yield f"The verdicts were recorded by spectrace {versions}."


def _read(one: Judged) -> Iterator[str]:
    """Yield how verdicts were found: written by the verifier, or read from its probabilities."""
    levels = sorted({each.threshold for each in one.found.answers if each.threshold is not None})
    if not levels:
        yield "The verdicts were decoded: the verifier wrote them."
        return
    near, judged = sum(near for _, near in one.scored_steps), len(one.scored_steps)
    written = sum(each.threshold is None for each in one.found.answers)
    are = "was" if written == 1 else "were"
    which = f"Of the verdicts {written} {are} decoded, the others" if written else "The verdicts"
    yield (
        f"{which} were scored: read from the probability of yes after each step, behind a yes to all before it, "
        f"with nothing decoded but the reasons of rejections; a step stood from {' or '.join(levels)} on."
    )
    if judged:
        yield (
            f"Of {counted(judged, 'scored step')} {near} ({100 * near / judged:.1f} %) "
            f"{'lies' if near == 1 else 'lie'} within {MARGIN} nat of the threshold, as far as an answer moves "
            "with how the prompt is split between cache and prefill."
        )
    yield (
        "A forced yes may bias the answers behind it, and a threshold is to be chosen on other tasks than those "
        "reported."
    )


def _prompts(made: Iterable[Made]) -> str:
    digests = {one.prompts for one in made}
    others = sorted(one for one in digests if one is not None)
    recorded = ["the recorded prompts"] if None in digests or not others else []
    return " and ".join([*recorded, *(f"prompts of the digest {one[:_SHORT]}" for one in others)])


def _verifiers(verifiers: Sequence[ModelFacts]) -> str:
    """Name the models, each with its parameters and what its server says of itself; replicas are counted."""
    told = Counter((f"{one.provider}:{one.name}", _facts(one)) for one in _apart(verifiers))
    words = [
        f"{name}{f' ({facts})' if facts else ''}{f' on {n} replicas' if n > 1 else ''}"
        for (name, facts), n in sorted(told.items())
    ]
    return " and ".join(words) or "no verifier that answered"


def _apart(verifiers: Iterable[ModelFacts]) -> list[ModelFacts]:
    """Return the verifiers that are not the same at the same address."""
    return list({(one.provider, one.name, one.url, one.parameters, one.server): one for one in verifiers}.values())


def _facts(one: ModelFacts) -> str:
    parameters = _pairs(one.parameters)
    server = _pairs(one.server)
    cut = [*server[:_FACTS], *([f"and {len(server) - _FACTS} more"] if len(server) > _FACTS else [])]
    return "; ".join(part for part in (", ".join(parameters), ", ".join(cut)) if part)


def _pairs(text: str) -> list[str]:
    """Return an object's members with a plain value, sorted by name."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    plain = found.items() if isinstance(found, dict) else ()
    return [
        f"{name} {shortened(value, _LONG) if isinstance(value, str) else json.dumps(value)}"
        for name, value in sorted(plain)
        if isinstance(value, str | int | float | bool)
    ]


def _kinds(reviews: Sequence[Review], repeats: int) -> str:
    kinds = Counter(one.new.kind for one in reviews)
    out = {
        "was unusable": kinds["unusable"],
        "was not asked for, as the prompt did not fit into the verifier's context": kinds["too_long"],
        "failed or was not reached": kinds["failed"],
        "stood in a context since redacted": kinds["context_redacted"],
    }
    told = ", ".join(f"{n} {words if n == 1 else words.replace('was ', 'were ')}" for words, n in out.items() if n)
    times = {1: "once", 2: "twice"}.get(repeats, f"{repeats} times")
    once = times if repeats == 1 else f"{times} and counts once, as the mean over its answers"
    verdicts = f"of {counted(len(reviews), 'verdict')} {told}" if told else "every verdict could be read"
    return f"Each review was judged {once}; {verdicts}."


def _statistics(found: Reverified) -> Iterator[str]:
    shown = [one for _, each in found.figures for one in each if one.title and one.form != "count"]
    derived = [_Named("share accepted", cell.accepted) for one in found.runs for cell in cells(one.derived)]
    intervals = _by_method([*(_Named(one.title, one.estimate) for one in shown if one.form != "p"), *derived])
    tests = _by_method(_Named(one.title, one.estimate) for one in shown if one.form == "p")
    yield "A task with all its trials is one cluster, and no interval is given under 10 tasks."
    if intervals:
        yield f"Intervals are {'; '.join(f'{method} for {_listed(whats)}' for method, whats in intervals.items())}."
    if tests:
        yield f"Tests are two-sided: {'; '.join(tests)}."
    yield "A verdict that is unusable, too long or failed is in no share; bounds count it either way."
    if any("seed" in method for method in (*intervals, *tests)):
        yield f"What is drawn is drawn {found.bootstrap.draws} times with the seed {found.bootstrap.seed}."


@dataclass(frozen=True, slots=True)
class _Named:
    """A figure by its name."""

    name: str
    estimate: Estimate


def _by_method(figures: Iterable[_Named]) -> dict[str, list[str]]:
    """Return the figures' names by how their interval was made; those without one are left out."""
    found: dict[str, list[str]] = {}
    for one in figures:
        method = one.estimate.method
        if one.estimate.value is not None and not method.startswith("none: "):
            names = found.setdefault(method, [])
            if one.name not in names:
                names.append(one.name)
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
