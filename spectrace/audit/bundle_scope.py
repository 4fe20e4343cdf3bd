"""Whether a bundle is the whole of a period: what was signed for, began in it, and is not there. See `bundles`.

Which period is the packer's word, so it is always said which one was looked at, or that none is claimed. What was
signed after the bundle's own checkpoint was not left out of it; a holder who asks for the period is told all the same.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from spectrace.audit.bundle_proofs import Covered
from spectrace.audit.integrity import CONSISTENT, INVALID, UNKNOWN, VerifyResult
from spectrace.audit.lines import counted
from spectrace.audit.proving import VALID
from spectrace.store.manifest import Period

_LEFT_OUT = (
    "it was recorded in the period that the bundle is to hold, and signed for, and is not in it: it was left out"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a bundle is the whole of, under the file's name, and an item for each run that is not in it."""

    summary: VerifyResult
    missing: tuple[VerifyResult, ...] = ()


def scope(name: str, signed: Covered, there: Collection[str], claimed: Period | None, asked: Period | None) -> Scope:
    """Compare what is in a bundle with the period that is asked for, else with the one that it claims to hold."""
    period = asked or claimed
    if period is None:
        others = len(signed.missing(Period(None, None), there))
        said = f"it claims no period, so whether anything was left out is not said: {_runs(others)} signed for "
        return Scope(_of(name, CONSISTENT, f"{said}{'is' if others == 1 else 'are'} not in it"))
    absent = signed.missing(period, there)
    left_out = [_of(one.episode, INVALID, _LEFT_OUT) for one in absent if one.episode in signed.least]
    since = [one.episode for one in absent if one.episode not in signed.least]
    after = "" if signed.at is None else f" when its checkpoint was signed, {moment(signed.at)},"
    later = f"; {_runs(len(since))} of the period signed since, and not in it" if since else ""
    whole = f"it is complete for {named(period)}: every run of it that was signed for{after} is in it{later}"
    if left_out:
        return Scope(
            _of(name, INVALID, f"it is not complete for {named(period)}: {_runs(len(left_out))} left out{later}"),
            tuple(left_out),
        )
    if since and asked is not None:
        said = f"it began in the period, and was signed only after the bundle's own checkpoint: it is not in {name}"
        return Scope(_of(name, UNKNOWN, whole), tuple(_of(one, UNKNOWN, said) for one in since))
    return Scope(_of(name, VALID, whole))


def named(period: Period) -> str:
    """Return a period as people read it: its begin is in it, its end is not."""
    if period == Period(None, None):
        return "the whole log"
    begin = "the beginning" if period.since is None else moment(period.since)
    return f"[{begin}, {'the end' if period.until is None else moment(period.until)})"


def moment(at: int) -> str:
    """Return a time to the microsecond, as far as it has any: a period ends at one."""
    try:
        told = datetime.fromtimestamp(at // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):  # a number that a bundle made elsewhere may hold
        return f"{at} us"
    part = at % 1_000_000
    return f"{told}.{part:06d}Z" if part else f"{told}Z"


def _runs(count: int) -> str:
    return counted(count, "run")


def _of(name: str, result: str, detail: str) -> VerifyResult:
    return VerifyResult(name, result, 0, None, None, detail)
