"""What a re-verification run is to do, and what became of each part of it: values that commands and workers pass on."""

import json
from dataclasses import dataclass
from typing import Literal

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

    def to_json(self) -> str:
        """Return the settings of the run, as `runs` holds them."""
        values = {"verifier": self.verifier, "prompts": self.prompts, "only_rejected": self.only_rejected}
        return json.dumps(values | {"repeat": self.repeat}, sort_keys=True)

    @classmethod
    def from_json(cls, run: str, settings: str) -> "Plan":
        """Read the settings of a run; raise UsageError where they are none of a re-verification."""
        match json.loads(settings):
            case {"verifier": str(verifier), **rest}:
                prompts, repeat = rest.get("prompts"), rest.get("repeat", 1)
                if isinstance(prompts, str | None) and type(repeat) is int and repeat > 0:
                    return cls(run, verifier, prompts, rest.get("only_rejected") is True, repeat)
            case _:
                pass
        raise UsageError(f"run {run!r} has settings that are none of a re-verification: {settings[:200]}")


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
