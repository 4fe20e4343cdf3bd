"""All checks, those of the hard inputs that are asked elsewhere, and running them one after the other."""

from collections.abc import Iterator, Sequence

from spectrace.errors import StoreError
from spectrace.store.conformance import contract, evidence, values, writers
from spectrace.store.conformance.check import FAILED, NOT_APPLICABLE, OK, Check, NotApplicable, Open, Result
from spectrace.store.event_store import EventStore

CHECKS: tuple[Check, ...] = (*contract.CHECKS, *values.CHECKS, *writers.CHECKS, *evidence.CHECKS)

ELSEWHERE: tuple[Result, ...] = tuple(
    Result(id_, claim, NOT_APPLICABLE, why)
    for id_, claim, why in (
        ("H8", "parallel reads get their recorded answers under any scheduling", "asked of a replay"),
        ("H9", "calls in another order, and one too many, are told apart", "asked of a replay"),
        ("H11", "changed tools are found before anything runs", "asked of a replay"),
        ("H13", "a cut line is told from damage", "asked of an import"),
        ("H14", "no write runs without its record on a full or read-only disk", "needs a disk of its own"),
        ("H19", "every past revision is upgraded with equal digests", "needs databases of past revisions"),
        ("H20", "unknown events are kept, newer versions refused by name", "needs a log of a newer spectrace"),
        ("H21", "an empty or foreign file is refused", "needs a file of its own"),
        ("H22", "a secret is in no sink", "asked of the redaction, which is above the store"),
    )
)
"""Hard inputs that no database can be asked about, and why; the project's own tests ask them."""


def run_checks(open_store: Open, checks: Sequence[Check] = CHECKS) -> Iterator[Result]:
    """Yield what came of each check; what a check opened is closed before the next."""
    for one in checks:
        opened: list[EventStore] = []

        def open_again(opened: list[EventStore] = opened) -> EventStore:
            opened.append(open_store())
            return opened[-1]

        yield _result(one, open_again)
        for store in opened:
            store.close()


def _result(one: Check, open_store: Open) -> Result:
    try:
        remark = one(open_store)
    except NotApplicable as reason:
        return Result(one.id, one.claim, NOT_APPLICABLE, str(reason))
    except StoreError as error:
        return Result(one.id, one.claim, FAILED, str(error))
    except Exception as error:  # noqa: BLE001 - a store under test may raise anything; its text may hold what it was given
        return Result(one.id, one.claim, FAILED, f"{type(error).__name__} was raised, which is no StoreError")
    return Result(one.id, one.claim, OK, remark or "")
