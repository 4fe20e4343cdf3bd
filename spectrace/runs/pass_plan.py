"""What a re-verification run is to do, and what became of each part of it: values that commands and workers pass on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from spectrace.core.options import is_decimal
from spectrace.core.rereviews import Scope
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does: its name, and settings that never change."""

    run: str
    verifier: str
    """As it was named on the command line."""
    prompts: str | None = None
    """The digest of the prompts asked with; None: each episode's recorded ones."""
    only_rejected: bool = False
    repeat: int = 1
    verdict: str = "decoded"
    """decoded or scored."""
    threshold: str = "0.5"
    """Of scored verdicts."""

    @property
    def reading(self) -> str:
        """How verdicts are read, in words."""
        return "decoded verdicts" if self.verdict == "decoded" else f"verdicts scored at {self.threshold}"

    def scope(self, repeat: int = 1, segments: tuple[int, ...] = ()) -> Scope:
        """Return what a child is to judge."""
        return Scope(self.only_rejected, repeat, segments, self.verdict, self.threshold)

    def to_json(self) -> str:
        """Return the settings of the run, as `runs` holds them; those of decoded verdicts are as they ever were."""
        values = {"verifier": self.verifier, "prompts": self.prompts, "only_rejected": self.only_rejected}
        scored = {} if self.verdict == "decoded" else {"verdict": self.verdict, "threshold": self.threshold}
        return json.dumps(values | {"repeat": self.repeat} | scored, sort_keys=True)

    @classmethod
    def from_json(cls, run: str, settings: str) -> "Plan":
        """Read the settings of a run; raise UsageError where they are none of a re-verification."""
        match json.loads(settings):
            case {"verifier": str(verifier), **rest}:
                prompts, repeat = rest.get("prompts"), rest.get("repeat", 1)
                if isinstance(prompts, str | None) and type(repeat) is int and repeat > 0 and _is_read(rest):
                    only_rejected = rest.get("only_rejected") is True
                    return cls(run, verifier, prompts, only_rejected, repeat, **_reading(rest))
            case _:
                pass
        raise UsageError(f"run {run!r} has settings that are none of a re-verification: {settings[:200]}")


def _reading(settings: Mapping[object, object]) -> dict[str, str]:
    """Return how verdicts are read, where that is not the way it was before there was another."""
    scored = settings.get("verdict") == "scored"
    return {"verdict": "scored", "threshold": str(settings.get("threshold", "0.5"))} if scored else {}


def _is_read(settings: Mapping[object, object]) -> bool:
    """Whether it is known how to read verdicts so: a run of a later version may have another way."""
    known = settings.get("verdict", "decoded") in ("decoded", "scored")
    return known and is_decimal(settings.get("threshold", "0.5"), Decimal(1))


Then = Literal["again", "never", "stop"]


@dataclass(frozen=True, slots=True)
class Part:
    """What became of one repeat of one episode."""

    episode: str
    repeat: int
    before: int = 0
    """Reviews that had their answer already."""
    new: int = 0
    """Reviews answered now."""
    left: int = 0
    """Reviews without an answer, as far as anybody looked."""
    left_out: int = 0
    """Reviews that the verifier, people's labels, says nothing of."""
    why: str | None = None
    """Why something is left."""
    then: Then = "again"
    """What a trouble means: going on may help, or never will, or nothing more of the run should be begun."""
