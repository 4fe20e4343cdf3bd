"""Effects by arguments: what a tool's classifier says of each call, live; what the record says of it, in a replay.

A tool that sometimes writes (`sql`, `http`) may have a classifier, a function of the arguments; `effect_by` of its spec
is then `classifier:NAME`. It belongs to the environment, so no replay calls it: every event about a call has the effect
that was decided, and the record answers for it. Of one call there is one answer in an episode, whatever the function
would say the next time. What it cannot say is a write.
"""

from collections.abc import Callable, Iterable

from spectrace.core.events import ActionHeld, ActRequested, Event, StepDrafted, StepSpeculated
from spectrace.core.types import Call, Effect

BY = "classifier:"
"""How `effect_by` of such a tool begins; the function's name follows."""
Classify = Callable[[Call], Effect]


def by_record(events: Iterable[Event], beyond: Classify | None = None) -> Classify:
    """Return what the record says of each call; `beyond` says it of calls that are in no event."""
    known: dict[tuple[str, str], Effect] = {}
    for event in events:
        match event.body:
            case (
                StepDrafted(action=Call(tool, arguments), effect=effect)
                | StepSpeculated(action=Call(tool, arguments), effect=effect)
                | ActionHeld(action=Call(tool, arguments), effect=effect)
                | ActRequested(action=Call(tool, arguments), effect=effect)
            ) if effect in _EFFECTS:
                known.setdefault((tool, arguments), Effect(effect))
            case _:
                pass

    def classify(call: Call) -> Effect:
        key = call.tool, call.arguments
        if key not in known:
            known[key] = Effect.WRITE if beyond is None else beyond(call)
        return known[key]

    return classify


_EFFECTS = frozenset(effect.value for effect in Effect)
