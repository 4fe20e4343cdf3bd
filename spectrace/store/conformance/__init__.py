"""What every event store must do, as checks that run against a real one: the contract of the `event_store` port.

The contract tests run them over memory, SQLite and Postgres; `spectrace conformance --db URL` runs the same ones on any
database. A check is given a function that opens the same log again, writes episodes with ids of its own and raises
StoreError with what was expected and found.
"""

from spectrace.store.conformance.check import (
    FAILED,
    NOT_APPLICABLE,
    OK,
    PROJECT,
    Check,
    NotApplicable,
    Open,
    Result,
)
from spectrace.store.conformance.registry import CHECKS, ELSEWHERE, run_checks

__all__ = [
    "CHECKS",
    "ELSEWHERE",
    "FAILED",
    "NOT_APPLICABLE",
    "OK",
    "PROJECT",
    "Check",
    "NotApplicable",
    "Open",
    "Result",
    "run_checks",
]
