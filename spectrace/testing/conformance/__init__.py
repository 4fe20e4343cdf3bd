"""What every Environment must do, as checks that run against somebody's own: the contract of the `environment` port.

The counterpart of `store/conformance`. Each finding says what was promised, where it is not kept, what was found and
what to do. A check opens instances of its own and closes them.
"""

from spectrace.testing.conformance.check import Check, Finding, Report
from spectrace.testing.conformance.registry import CHECKS, check_environment, inspect_environment

__all__ = ["CHECKS", "Check", "Finding", "Report", "check_environment", "inspect_environment"]
