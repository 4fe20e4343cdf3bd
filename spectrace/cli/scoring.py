"""`--verdict decoded|scored [--threshold Q]`: how verdicts are read, said alike to `reverify` and to `worker`.

A threshold is kept in its shortest form, so that 0.50 goes on with what 0.5 began.
"""

import re
from decimal import Decimal

import click

from spectrace.cli.options import Decorator
from spectrace.core.options import is_decimal
from spectrace.errors import UsageError

DECODED = ("decoded", "0.5")
_PLAIN = re.compile(r"[0-9]{0,9}\.?[0-9]{0,40}", re.ASCII)


def _share(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    """Refuse what is no probability; return it in its shortest form."""
    if text is None:
        return None
    if _PLAIN.fullmatch(text) is None or not is_decimal(text, Decimal(1)):
        raise click.BadParameter(f"expected a probability from 0 to 1, for example 0.5, found {text[:60]!r}.")
    short = format(Decimal(text), "f")
    return short.rstrip("0").rstrip(".") if "." in short else short


verdict_option: Decorator = click.option(
    "--verdict",
    type=click.Choice(["decoded", "scored"]),
    help="Let it write its verdict, or read it from probabilities: one prefill, nothing decoded (SGLang). "
    "[default: decoded]",
)
threshold_option: Decorator = click.option(
    "--threshold",
    callback=_share,
    metavar="Q",
    help="Scored: a step stands from this probability on; choose it on other tasks than those reported. [default: 0.5]",
)


def reading_of(verdict: str | None, threshold: str | None, before: tuple[str, str] = DECODED) -> tuple[str, str]:
    """Return (verdict, threshold) as they are asked for; what nobody says is as it was before."""
    found = verdict or before[0]
    if found == "decoded":
        if threshold is not None:
            raise UsageError(f"--threshold {threshold} is of --verdict scored: a decoded verdict has no probabilities.")
        return DECODED
    return found, threshold or (before[1] if before[0] == "scored" else DECODED[1])
