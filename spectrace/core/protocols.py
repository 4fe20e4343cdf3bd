"""The protocols by name: what a command line or a recording may name."""

from collections.abc import Mapping
from types import MappingProxyType

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import EpisodeStarted
from spectrace.core.options import recorded_options, types_of
from spectrace.core.prompts import CARRIED_REVISIONS
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.errors import Untestable, UsageError

Known = SpecAgent | WeakOnly | StrongOnly | SpeculativeActions | AgentCollab

PROTOCOLS: Mapping[str, type[Known]] = MappingProxyType(
    {protocol.NAME: protocol for protocol in (SpecAgent, WeakOnly, StrongOnly, SpeculativeActions, AgentCollab)}
)


def protocol_of(name: str, options: Mapping[str, object]) -> Known:
    """Return the protocol with these options; raise UsageError naming what there is."""
    if name not in PROTOCOLS:
        raise UsageError(f"no protocol is named {name!r}; there are {', '.join(PROTOCOLS)}.")
    known = list(types_of(PROTOCOLS[name]))
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise UsageError(f"{name} has no option {', '.join(unknown)}; it has {', '.join(known)}.")
    return PROTOCOLS[name](**options)  # type: ignore[arg-type]


def recorded_protocol(started: EpisodeStarted) -> Known:
    """Return the protocol that an episode was recorded with; raise Untestable where this version has no such one."""
    if started.protocol not in PROTOCOLS:
        raise Untestable(f"protocol {started.protocol!r} has no generator here; there are {', '.join(PROTOCOLS)}.")
    require_revision(started)
    options = recorded_options(started.options)
    if options is None:
        raise Untestable(f"the recorded options are no JSON object: {started.options[:80]!r}.")
    try:
        return protocol_of(started.protocol, options)
    except UsageError as error:
        raise Untestable(f"the recorded options are not known here: {error}") from None


def require_revision(started: EpisodeStarted) -> None:
    """Raise Untestable for rules that this version does not carry, naming the version that does: never `diverged`."""
    if started.protocol_revision not in CARRIED_REVISIONS:
        carried = " and ".join(map(str, CARRIED_REVISIONS))
        raise Untestable(
            f"recorded under protocol revision {started.protocol_revision}, this version carries {carried}: "
            f"replay it with spectrace {started.versions.spectrace}."
        )
