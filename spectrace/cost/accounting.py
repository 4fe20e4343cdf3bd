"""R by accounting: where a strong model's cost went, in units of its own step. An identity, not a model.

    R = (reviews per step)(v/d) + (repairs per step) rho

v is the mean cost of a review that *accepts* (uncached prefill and decode). rho d is the mean, over rejections, of what
they cost beyond that: the longer decode, and the corrective calls. d is the mean step of a strong-only run on the same
tasks. What was asked again, and turns taken because a verdict or a draft could not be read, are a line of their own.
So the lines add up to all that the strong model cost; a test asserts it to 1e-9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite

from spectrace.cost.model import drafted_per_review, relative_strong_cost
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True)
class RoundCost:
    """One review that could be read, in one measure: its first ask, and the corrective calls that it led to."""

    accepts: bool
    review: float
    repair: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StrongCost:
    """All that the strong model cost in some episodes, in one measure."""

    steps: int
    """Committed steps, whoever wrote them."""
    rounds: Sequence[RoundCost] = ()
    acting: float = 0.0
    """Steps and plans that it wrote on its own, and progress that it judged."""
    apart: float = 0.0
    """Re-asks; unusable verdicts with their corrective turns; corrective turns after a draft that could not be read."""

    @property
    def beside(self) -> float:
        """What is beside R: `apart`, and corrective turns behind an accepted segment, whose draft broke off there."""
        return fsum([self.apart, *(one.repair for one in self.rounds if one.accepts)])

    @property
    def total(self) -> float:
        """The sum of everything."""
        parts = [cost for one in self.rounds for cost in (one.review, one.repair)]
        return fsum([*parts, self.acting, self.apart])


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The lines of R. `v`, `rho_d` and `d` are in the measure's own unit, everything else in units of d."""

    steps: int
    reviews: int
    repairs: int
    d: float
    v: float | None
    """None where reviews were read and none accepted everything. R is known even so: whatever v is, it cancels."""
    rho_d: float
    """0 where nothing was rejected; all that a rejection cost where v is unknown."""
    acting: float
    apart: float
    """Beside R: the line of its own."""

    @property
    def v_over_d(self) -> float | None:
        """What a review costs in strong steps."""
        return None if self.v is None else self.v / self.d

    @property
    def rho(self) -> float:
        """What a rejection costs beyond its review, in strong steps."""
        return self.rho_d / self.d

    @property
    def r(self) -> float:
        """R by accounting; for a strong model that acts, what its acting costs."""
        return self.reviews / self.steps * (self.v_over_d or 0.0) + self.repairs / self.steps * self.rho + self.acting


@dataclass(frozen=True, slots=True)
class Proposition:
    """Proposition 1 at the p and n of a log."""

    p: float
    """1 - repairs / committed steps."""
    n: float
    """Solved from reviews / committed steps; infinite where no review accepted everything."""
    r: float
    """Equal to the accounting where that has no acting: p and n were chosen so. What n means is the question."""


def account(cost: StrongCost, d: float) -> Account | str:
    """Return the lines of R, or why there are none."""
    if not cost.steps:
        return "no step was committed"
    if not d > 0:
        return "a strong step of the reference costs nothing in this measure"
    if not cost.rounds and not cost.acting and cost.apart > 0:
        return "no review could be read: all that the strong model did stands apart from R"
    accepting = [one.review for one in cost.rounds if one.accepts]
    rejecting = [one for one in cost.rounds if not one.accepts]
    v = fsum(accepting) / len(accepting) if accepting else 0.0
    beyond = fsum(part for one in rejecting for part in (one.review, -v, one.repair))
    return Account(
        steps=cost.steps,
        reviews=len(cost.rounds),
        repairs=len(rejecting),
        d=d,
        v=None if rejecting and not accepting else v,
        rho_d=beyond / len(rejecting) if rejecting else 0.0,
        acting=cost.acting / cost.steps / d,
        apart=cost.beside / cost.steps / d,
    )


def proposition(lines: Account) -> Proposition | str:
    """Return Proposition 1 at the log's p and n, or why it says nothing of it."""
    if not lines.reviews:
        return "nothing was reviewed"
    if lines.v_over_d is None:
        return "no review accepted a whole segment, so v is unknown"
    p, reviews = 1 - lines.repairs / lines.steps, lines.reviews / lines.steps
    try:
        n = drafted_per_review(p, reviews)
        if not isfinite(n):
            return Proposition(p, n, (1 - p) * (lines.v_over_d + lines.rho))
        return Proposition(p, n, relative_strong_cost(p, n, lines.v_over_d, lines.rho))
    except UsageError as error:
        return str(error)
