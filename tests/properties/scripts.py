"""Random scripts: what every model says, how the world answers, under which options. Drawn whole, so that they shrink.

A script is a list of *moves* by name; `stage.py` turns a move into a reply when it is asked for. A script that has run
out goes on with what ends an episode: the weak model finishes, the strong one accepts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.properties.world import MOODS

READS = ("read", "again", "external", "lie")
FENCED = "fenced"
"""A look-up in a form that is tolerated: JSON inside a fence."""
ACTIONS = (*READS, "write", "reply", "finish", "unknown_tool", "bad_arguments", FENCED)
BATCHES = ("reads_and_unknown", "reads_and_write", "reads", "write_and_reads", "reads_and_lie")
"""Several calls in one message: native callers only."""
UNUSABLE = ("prose", "empty", "cut_off")
FAILURES = ("context", "unreachable", "max_cost_usd", "max_wall_s")
WHERE = ("first", "middle", "last")
REPLACEMENTS = ("null", "unreadable", *ACTIONS[:-1])
NO_VERDICTS = ("prose", "empty", "cut_off", "out_of_range", "contradiction", "other_word")


@dataclass(frozen=True)
class Judged:
    """One review: accept, accept_reason, reject, one of NO_VERDICTS or of FAILURES."""

    says: str
    where: str = "first"
    replacement: str = "null"
    drifts: bool = False
    """Whether the world's state moves by itself meanwhile."""

    @property
    def accepts(self) -> bool:
        return self.says.startswith("accept")


@dataclass(frozen=True)
class Script:
    """One episode."""

    weak: tuple[str, ...]
    strong: tuple[str, ...] = ()
    """What the strong model writes where it acts: repairs, or every step of strong-only."""
    verdicts: tuple[Judged, ...] = ()
    user: tuple[str, ...] = ()
    moods: tuple[str, ...] = ("ok",)
    """How the world answers, call by call, over and over."""
    objections: tuple[str, ...] = ("none",)
    """What the environment's own check says: none, objects, crashes."""
    judgements: tuple[str, ...] = ()
    """What a model says of its own progress (agentcollab): progress, stagnation, one of UNUSABLE or of FAILURES."""
    plan: tuple[str, ...] = ()
    """The plan before everything (agentcollab): plan, one of UNUSABLE or of FAILURES."""
    native: tuple[bool, bool] = (False, False)
    """Whether the weak and the strong model write native calls."""
    fingerprints: bool = True
    replies: bool = True
    finish: bool = True
    has_user: bool = False


def _moves(*often: str, rarely: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    """Draw one move; those of `rarely` (which end an episode, or waste it) about one time in ten."""
    return st.integers(0, 9).flatmap(lambda n: st.sampled_from(rarely if rarely and n == 0 else often))


_ACTS = _moves(*READS, "read", "write", "write", "reply", *BATCHES, rarely=("finish", *ACTIONS, *UNUSABLE))
_JUDGED = st.builds(
    Judged,
    _moves("accept", "accept", "reject", "reject", "accept_reason", rarely=NO_VERDICTS),
    st.sampled_from(WHERE),
    st.sampled_from(REPLACEMENTS),
    st.sampled_from((False, False, False, True)),
)


def _some(each: st.SearchStrategy, least: int, most: int) -> st.SearchStrategy[tuple]:
    return st.lists(each, min_size=least, max_size=most).map(tuple)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw an episode: a third of them just goes on for a while, in the others something certain happens early."""
    script = Script(
        weak=draw(_some(_ACTS, 3, 10)),
        strong=draw(_some(_ACTS, 1, 6)),
        verdicts=draw(_some(_JUDGED, 1, 6)),
        user=draw(_some(_moves("says", rarely=("unreachable",)), 1, 3)),
        moods=draw(_some(_moves("ok", rarely=MOODS), 1, 8)),
        judgements=draw(_some(_moves("progress", "stagnation", rarely=(*UNUSABLE, "context")), 1, 4)),
        plan=draw(_some(_moves("plan", rarely=(*UNUSABLE, "max_wall_s")), 0, 2)),
        objections=draw(_some(_moves("none", "none", "objects", rarely=("crashes",)), 1, 3)),
        native=draw(st.sampled_from(((False, False), (True, True), (True, False)))),
        fingerprints=draw(st.sampled_from((True, True, True, False))),
        replies=draw(st.sampled_from((True, True, False))),
        finish=draw(st.sampled_from((True, True, True, False))),
        has_user=draw(st.booleans()),
    )
    happens = draw(st.sampled_from((*[None] * (len(_HAPPENS) // 2), *_HAPPENS)))
    return script if happens is None else happens(draw, script)


def _weak_fails(draw: st.DrawFn, script: Script) -> Script:
    return replace(script, weak=(*script.weak[:2], draw(st.sampled_from(FAILURES)), *script.weak[2:]))


def _strong_fails(draw: st.DrawFn, script: Script) -> Script:
    fails = Judged(draw(st.sampled_from(FAILURES)))
    return replace(script, weak=("read", "write", *script.weak), verdicts=(fails, *script.verdicts))


def _weak_is_unreadable(draw: st.DrawFn, script: Script) -> Script:
    twice = draw(st.permutations(UNUSABLE))[:2]
    return replace(script, weak=(*script.weak[:1], *twice, *script.weak[1:]))


def _verdict_is_unreadable(draw: st.DrawFn, script: Script) -> Script:
    twice = tuple(Judged(says) for says in draw(st.permutations(NO_VERDICTS))[:2])
    return replace(script, weak=("read", "write", *script.weak), verdicts=(*twice, *script.verdicts))


def _repair_is_unreadable(draw: st.DrawFn, script: Script) -> Script:
    twice = draw(st.permutations(UNUSABLE))[:2]
    verdict = Judged("reject", draw(st.sampled_from(WHERE)))
    return replace(
        script, weak=("read", "write", *script.weak), verdicts=(verdict, *script.verdicts), strong=tuple(twice)
    )


def _repair_of_several(draw: st.DrawFn, script: Script) -> Script:
    verdict = Judged("reject", draw(st.sampled_from(WHERE)))
    several = (draw(st.sampled_from(BATCHES)), *script.strong)
    return replace(
        script,
        weak=("read", "external", "write", *script.weak),
        verdicts=(verdict, *script.verdicts),
        strong=several,
        native=(script.native[0], True),
    )


def _stalls(draw: st.DrawFn, script: Script) -> Script:
    return replace(script, weak=("again", "again", "again", *script.weak), moods=("ok",))


def _write_is_lost(draw: st.DrawFn, script: Script) -> Script:
    moods = ("ok", draw(st.sampled_from(("crash", "timeout"))))
    begin = ("read", "write")
    return replace(
        script, weak=(*begin, *script.weak), strong=(*begin, *script.strong), verdicts=(Judged("accept"),), moods=moods
    )


def _replaced(draw: st.DrawFn, script: Script) -> Script:
    verdict = Judged("reject", draw(st.sampled_from(WHERE)), draw(st.sampled_from(REPLACEMENTS)))
    return replace(script, weak=("read", "write", *script.weak), verdicts=(verdict, *script.verdicts))


_HAPPENS = (
    _weak_fails,
    _strong_fails,
    _weak_is_unreadable,
    _verdict_is_unreadable,
    _repair_is_unreadable,
    _repair_of_several,
    _stalls,
    _write_is_lost,
    _replaced,
)


OPTIONS: Mapping[str, tuple[object, ...]] = {
    "k": (6, 1, 2, 3),
    "fused": (True, True, False),
    "hold": ("writes", "writes", "writes+replies", "writes+external"),
    "review": ("held", "held", "every"),
    "finish": ("held", "free"),
    "max_unreviewed": (None, None, 2, 4),
    "stall": ("review", "ignore"),
    "repair_sees": ("reason", "nothing", "draft"),
    "acceptance": ("semantic", "semantic", "semantic", "exact"),
    "unreviewed": ("final", "revisable"),
    "feedback": ("none", "reason"),
    "prompts": ("shared", "separate"),
    "verdict": ("decoded", "decoded", "decoded", "scored"),
}
"""SpecAgent's options, the usual value first or more often."""
BUDGETS: Mapping[str, tuple[object, ...]] = {
    "max_steps": (20, 20, 12, 5),
    "max_strong_calls": (None, None, None, None, 2),
    "max_tokens": (None, None, None, None, 100),
}
"""Limits that every protocol has; small enough for a test's episodes."""


GUESSING: Mapping[str, tuple[object, ...]] = {"guesses": (1, 2, 3)}
"""Options of speculative-actions."""
COLLABORATING: Mapping[str, tuple[object, ...]] = {"k": (6, 1, 2, 3), "offset": (-1, 0)}
"""Options of agentcollab."""


def options(*of: Mapping[str, tuple[object, ...]]) -> st.SearchStrategy[dict[str, object]]:
    """Draw a value for each option."""
    return st.fixed_dictionaries({name: st.sampled_from(values) for table in of for name, values in table.items()})
