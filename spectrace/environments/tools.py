"""A Python function as a tool: the decorator that declares its effect, and what `functions.py` makes of it."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import orjson

from spectrace.core.classified import BY
from spectrace.core.types import Effect, ToolSpec
from spectrace.environments.signatures import Signature
from spectrace.errors import UsageError

Classifier = Callable[[dict[str, Any]], str]
"""Arguments -> read or write; deterministic."""
F = TypeVar("F", bound=Callable[..., Any])

INJECTED = frozenset({"state", "task"})
"""Parameters that the environment fills in; the models never see them."""

_LONGEST_S = 10**9
"""About 30 years: what is longer is a slip, and infinity has no microseconds."""
_MARK = "__spectrace_tool__"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Declared:
    effect: Effect
    external: bool
    timeout_s: float | None
    volatile: tuple[str, ...] = ()
    classifier: Classifier | None = None


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    effect: str | Classifier | None = ...,
    external: bool = ...,
    timeout_s: float | None = ...,
    volatile: Sequence[str] = ...,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    effect: str | Classifier | None = None,
    external: bool = False,
    timeout_s: float | None = None,
    volatile: Sequence[str] = (),
) -> F | Callable[[F], F]:
    """Declare what a tool does: read, write (where nothing is said), reply or finish.

    Of a tool that does one or the other by its arguments, `effect` is a classifier: a function that is given them as a
    dictionary and returns `read` or `write`, the same for the same ones. Where it raises, or says anything else, the
    call is a write. The function itself stays as it is. `external`: a read that sends data to an outside party.
    `timeout_s`: after that long the call is left behind; a write is then indeterminate. `volatile`: JSON pointers into
    its answer, such as `/created_at`, to what is another value at every run.
    """
    known = [member.value for member in Effect]
    classifier = None if isinstance(effect, str) or not callable(effect) else effect
    if effect is not None and classifier is None and effect not in known:
        msg = f"tool: expected an effect of {', '.join(known)}, or a function of the arguments, found {effect!r}"
        raise UsageError(msg)
    if timeout_s is not None and not 0 < timeout_s <= _LONGEST_S:  # NaN too
        msg = f"tool: expected a time limit above 0 s and of {_LONGEST_S:,} s at most, found {timeout_s}"
        raise UsageError(msg)

    places = (volatile,) if isinstance(volatile, str) else tuple(volatile)
    for place in places:
        if place and not place.startswith("/"):
            msg = f"tool: expected a JSON pointer (/name, /items/*/name, or nothing for the whole), found {place!r}"
            raise UsageError(msg)

    def mark(function: F) -> F:
        declared = Effect(effect) if isinstance(effect, str) else Effect.WRITE
        setattr(function, _MARK, (effect, _Declared(declared, external, timeout_s, places, classifier)))
        return function

    return mark if function is None else mark(function)


@dataclass(frozen=True, slots=True)
class Tool:
    """A function with its schema, ready to be called with a call's JSON text."""

    spec: ToolSpec
    function: Callable[..., Any]
    signature: Signature
    timeout_s: float | None
    volatile: tuple[str, ...] = ()
    classifier: Classifier | None = None

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Tool":
        """Read a function's name, hints, docstring and declaration."""
        name = getattr(function, "__name__", "")
        if not _NAME.fullmatch(name):
            msg = f"expected a named function of letters, digits, _ and - (at most 64) as a tool, found {function!r}"
            raise UsageError(msg)
        effect, declared = getattr(function, _MARK, (None, _Declared(Effect.WRITE, external=False, timeout_s=None)))
        signature = Signature(function, INJECTED)
        limit = declared.timeout_s
        spec = ToolSpec(
            name=name,
            description=signature.description,
            parameters=orjson.dumps(signature.schema).decode(),
            effect=declared.effect,
            effect_by=_said_by(effect),
            external=declared.external,
            timeout_us=None if limit is None else round(limit * 1_000_000),
        )
        return cls(spec, function, signature, limit, declared.volatile, declared.classifier)

    def classify(self, arguments: str) -> Effect:
        """Return the effect of a call: by its arguments, where there is a classifier."""
        if self.classifier is None:
            return self.spec.effect
        try:
            found = self.classifier(orjson.loads(arguments or "{}"))
        except Exception:  # noqa: BLE001 - whatever a user's function raises, the call counts as a write
            return Effect.WRITE
        return Effect.READ if found == Effect.READ else Effect.WRITE

    def bound(self, arguments: str, injected: dict[str, object]) -> Callable[[], Any]:
        """Return the call, ready to run; raise InvalidArguments when the text does not fit the signature."""
        given = self.signature.parse(arguments)
        wanted = inspect.signature(self.function).parameters
        given.update((name, value) for name, value in injected.items() if name in wanted)
        return lambda: self.function(**given)


def _said_by(effect: object) -> str:
    """Return who said the effect: nobody, the declaration, or the classifier by its name."""
    if effect is None:
        return "default"
    return "declared" if isinstance(effect, str) else f"{BY}{getattr(effect, '__name__', type(effect).__name__)}"


def toolbox(functions: Sequence[Callable[..., Any]]) -> dict[str, Tool]:
    """Return the tools by name, in order; two of one name are refused."""
    box: dict[str, Tool] = {}
    for function in functions:
        made = Tool.of(function)
        if made.spec.name in box:
            msg = f"expected each tool name once, found two functions named {made.spec.name}"
            raise UsageError(msg)
        box[made.spec.name] = made
    return box


def call_with(function: Callable[..., Any], first: str, available: dict[str, object]) -> Any:
    """Call a user's function with the values that its parameters name.

    A required parameter of any other name (`lambda s: ...`) is given the value called `first`.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some builtins have no signature: reset=dict
        return function()
    named: dict[str, object] = {}
    given_first: list[object] = []
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            given_first += [] if given_first else [available[first]]
        elif parameter.name in available:
            named[parameter.name] = available[parameter.name]
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty:
            named[parameter.name] = available[first]
    return function(*given_first, **named)
