"""Every option of the protocols: its values, what it does, and what the seeds measured. One table for checks and help.

A protocol is a frozen dataclass whose fields are options by these names; `OPTIONS` says the rest. Each is an ablation
of the paper or a question that it leaves open (PROTOCOL section 2, Options), and is recorded in `episode.started`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from spectrace.core.roles import Budget
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Option:
    """What an option does. `values`: the closed set it takes; `least`: the smallest whole number, of at most `MOST`."""

    does: str
    values: tuple[str, ...] = ()
    least: int | None = None
    high: Decimal | None = None
    """The largest decimal number, for options that are one; the smallest is 0."""
    needs: tuple[tuple[str, str], ...] = ()
    """The values of other options without which this one has no effect."""
    seeds: str = ""
    """What the paper measured of it; empty where it leaves the question open."""


_LONG = 60
_UNWRITABLE = 10_000
"""Bits of a number that Python refuses to write in decimal."""
MOST = 2**31 - 1
"""The largest whole number of any option."""

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        "k": Option(
            "steps of a segment at most, the held one counted; agentcollab: of the weak model until it looks back",
            least=1,
            seeds="6; AutomationBench 8",
        ),
        "acceptance": Option(
            "semantic: is the step a valid move; exact: is it what the strong model would have written",
            ("semantic", "exact"),
            seeds="exact on Retail: Pass@1 87.7 to 82.5, FLOPs +70 %",
        ),
        "fused": Option(
            "use the replacement inside a verdict; false: every repair is an extra strong turn",
            ("true", "false"),
            seeds="false on Retail: Pass@1 87.7 to 82.5",
        ),
        "hold": Option(
            "which actions wait for a verdict beside the final answer",
            ("writes", "writes+replies", "writes+external"),
            seeds="replies held too: strong calls more than 3x, HBM-read +63 to 79 %, wall time 2.5 to 3.0x",
        ),
        "review": Option(
            "which segments are reviewed: those with a held action, or every one",
            ("held", "every"),
            seeds="every: as replies held too",
        ),
        "finish": Option(
            "whether the final answer waits for a verdict",
            ("held", "free"),
            seeds="free where the user ends the dialogue (τ²)",
        ),
        "unreviewed": Option(
            "whether the next review may reach back over unreviewed steps, to the last irrevocable one",
            ("final", "revisable"),
            needs=(("review", "held"),),
        ),
        "max_unreviewed": Option(
            "review anyway after this many unreviewed steps", least=1, needs=(("review", "held"),)
        ),
        "stall": Option(
            "whether the third identical read closes the segment for review: small drafters repeat one for ever",
            ("review", "ignore"),
        ),
        "repair_sees": Option("what a corrective turn is shown of the rejection", ("reason", "nothing", "draft")),
        "feedback": Option("what the weak model is shown of a rejection", ("none", "reason")),
        "prompts": Option(
            "shared: the strong model's roles share one prefix; separate: one template a role, as in the paper",
            ("shared", "separate"),
            seeds="separate: 28.4k uncached strong tokens a task on VitaBench, 12.5k for strong-only",
        ),
        "verdict": Option(
            "decoded: the verdict is written; scored: read from probabilities, nothing decoded (SGLang)",
            ("decoded", "scored"),
            needs=(("acceptance", "semantic"),),
        ),
        "threshold": Option(
            "scored: a step stands from this probability on; choose it on other tasks than those reported",
            high=Decimal(1),
            needs=(("verdict", "scored"), ("acceptance", "semantic")),
        ),
        "guesses": Option(
            "how many steps ahead the weak model guesses; those beyond the first wait for later rounds while all match",
            least=1,
            seeds="left open",
        ),
        "offset": Option(
            "the strong model takes 2 + 2 x (consecutive failures + offset) steps when the weak one stagnates",
            least=-1,
            seeds="not certain: -1 or 0",
        ),
        "max_steps": Option("end the episode truncated after this many drafted and repaired steps", least=1),
        "max_strong_calls": Option("end it after this many answers of the strong model", least=1),
        "max_tokens": Option(
            "end it after this many tokens, in and out, of both models; their servers must count", least=1
        ),
        "max_cost_usd": Option(
            "end it when its model calls cost this much; each model needs a price", high=Decimal(MOST)
        ),
        "max_wall_s": Option("end it after this many seconds", least=1),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted:
    """The limits that every protocol takes, checked before each model call."""

    max_steps: int = 60
    max_strong_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: str | None = None
    """Decimal text. Checked by whoever answers, who knows the prices; a refusal is recorded."""
    max_wall_s: int | None = None
    """Seconds. Checked by whoever answers, who has a clock; a refusal is recorded."""

    def __post_init__(self) -> None:
        """Refuse values outside their range, naming it."""
        check(self)

    @property
    def budget(self) -> Budget:
        """What the core itself counts."""
        return Budget(self.max_steps, self.max_strong_calls, self.max_tokens)


def types_of(protocol: type) -> dict[str, object]:
    """Return the options of a protocol with their types: its own first, then the limits that all have."""
    limits = {item.name for item in fields(Budgeted)}
    types = {item.name: item.type for item in fields(protocol)}
    return {name: types[name] for name in sorted(types, key=lambda name: name in limits)}


def check(protocol: object) -> None:
    """Raise UsageError for the first option whose value is out of its range, naming the range."""
    for item in fields(protocol):  # type: ignore[arg-type]  # a protocol is a dataclass
        option, value = OPTIONS.get(item.name), getattr(protocol, item.name)
        if option is None or value is None or isinstance(value, bool):
            continue
        if option.values and value not in option.values:
            raise UsageError(f"option {item.name}: expected one of {', '.join(option.values)}, found {value!r}.")
        if option.least is not None and (type(value) is not int or not option.least <= value <= MOST):
            allowed = f"a whole number of at least {option.least} and at most {MOST}"
            raise UsageError(f"option {item.name} must be {allowed}, found {_cut(value)}.")
        if option.high is not None and not is_decimal(value, option.high):
            allowed = f"a number of at least 0 and at most {option.high}"
            raise UsageError(f"option {item.name} must be {allowed}, found {_cut(value)}.")


def lacking(protocol: object, name: str) -> tuple[tuple[str, str], ...]:
    """Return those (option, value) that an option of a protocol has no effect without, and that are not so."""
    option = OPTIONS[name]
    if option.values and getattr(protocol, name) == option.values[0]:
        return ()
    return tuple((other, value) for other, value in option.needs if getattr(protocol, other) != value)


def _cut(value: object) -> str:
    """Return a value as it is typed, no longer than a line."""
    text = hex(value) if type(value) is int and value.bit_length() > _UNWRITABLE else repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def is_decimal(value: object, high: Decimal) -> bool:
    """Whether a value is the text of a decimal number from 0 to `high`."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return False
    return isinstance(value, str) and number.is_finite() and 0 <= number <= high


def recorded_options(text: str) -> dict[str, object] | None:
    """Return the options that a start holds; None where they are no JSON object: a record may hold any text there."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
