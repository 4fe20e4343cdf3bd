"""A call's exact JSON text as Python values, without loss.

`json.loads` alone keeps the last of two equal keys, reads NaN and turns 1e999 into infinity: each of them would
let an action run that is not the one in the log.
"""

import json
import math
from typing import NoReturn


class InvalidArguments(ValueError):
    """The arguments of a call are not JSON, or not what the tool takes; the text is for the model."""


def exact_object(text: str) -> dict[str, object]:
    """Parse a JSON object without loss: big integers kept; duplicate keys, NaN and overflowing numbers refused."""
    try:
        value = json.loads(
            text if text.strip() else "{}",  # a model calling a tool without parameters often sends nothing
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise InvalidArguments("the arguments are nested too deep") from None
    except json.JSONDecodeError as error:
        raise InvalidArguments(f"the arguments are not JSON: {error}") from None
    except ValueError as error:
        raise InvalidArguments(str(error)) from None
    if not isinstance(value, dict):
        raise InvalidArguments(f"expected a JSON object of arguments, found {type(value).__name__}")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArguments(f"expected each key once, found {twice!r} twice")
    return dict(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidArguments(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidArguments(f"{digits[:20]} is too large for a number")
    return value
