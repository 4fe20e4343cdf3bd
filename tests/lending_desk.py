"""The lending-library desk of the field's cases: its tools, and an episode with replies as the cases give them.

The cases' verdicts use other member names than ours. `ours` maps them inside the text, so that all the noise around and
between them (fence, preface, thoughts, cut, bad escape, a number's dress) stays byte for byte:

    "valid_prefix_len": 4 (of 4)  ->  "verdict": "accept"           (its reason and null replacement stay beside it)
    "valid_prefix_len": 2         ->  "verdict": "reject", "first_wrong": 3, "category": "other"    (likewise "2", 2.0)
    "valid_prefix_len": "two"     ->  "verdict": "reject", "first_wrong": "two", "category": "other"
    "replacement": {"name":       ->  "replacement": {"tool":
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spectrace.core.events import (
    ActionHeld,
    ActRequested,
    EpisodeEnded,
    Event,
    GenerateRequested,
    ReplyUnusable,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.fold import Episode, fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Completion, Finish, Message, ModelFacts, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.models import chat
from spectrace.models.scripted import Scripted, ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import ReplayResult, replay_episode
from spectrace.runs.reverify import Recheck, reverify_episode
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept, written

STEPS = 4
"""Of the cases' segment, the last one held."""
TASK = Task("renew", 'Please renew my copy of "Tidal Charts" for two weeks. Card 20417.')
DONE = Finish("Renewed.")
OTHER = Call("branch_hours", "{}")
"""What a corrective turn writes here."""
_MAPPED = re.compile(
    r"""(?P<q>\\?["'])valid_prefix_len(?P=q):[ ](?P<dress>"?)(?P<length>-?\d+|two|2/4)(?P<rest>\.0)?(?P=dress)(?=,)""",
    re.VERBOSE,
)
_NAMED = re.compile(r"""(["']replacement["']: \{["'])name(["'])""")


def ours(text: str) -> str:
    """Return a case's text with its verdicts in our form."""
    return _NAMED.sub(r"\1tool\2", _MAPPED.sub(_verdict, text))


def _verdict(found: re.Match[str]) -> str:
    quote, dress, length, rest = found["q"], found["dress"], found["length"], found["rest"] or ""
    if length == str(STEPS) and not dress:
        return f"{quote}verdict{quote}: {quote}accept{quote}"
    first = length if length in {"two", "2/4"} else str(int(length) + 1)
    reject = f"{quote}verdict{quote}: {quote}reject{quote}, {quote}first_wrong{quote}: {dress}{first}{rest}{dress}"
    return f"{reject}, {quote}category{quote}: {quote}other{quote}"


def completion(path: Path) -> Completion:
    """Return the reply that a case's file holds, a whole chat completion, as it stands."""
    read = chat.read_reply(path.read_text(encoding="utf-8"))
    return Completion(read.message, read.reasoning, read.finish_reason, read.model, read.usage)


def review(path: Path) -> Completion:
    """Return the reply of a verdict case, its verdicts in our form."""
    said = completion(path)
    return replace(said, message=Message("assistant", ours(said.message.content)))


def segment(path: Path) -> tuple[list[Call], dict[str, str]]:
    """Return the calls of a case's segment, and what its tools answer."""
    steps = json.loads(path.read_text())["steps"]
    calls = [Call(step["call"]["name"], json.dumps(step["call"]["arguments"])) for step in steps]
    return calls, {step["call"]["name"]: ours(step["output"]) for step in steps if step["executed"]}


class Limited(ScriptedModel):
    """A scripted model that is asked with sampling parameters of its own."""

    parameters = "{}"

    async def facts(self) -> ModelFacts:
        """Name the script and the parameters."""
        return replace(await super().facts(), parameters=self.parameters)


@dataclass(frozen=True)
class Played:
    """One episode at the desk."""

    events: list[Event]
    called: list[tuple[str, dict[str, object]]]
    """What reached the desk's tools, in order, by their own word."""
    store: EventStore

    @property
    def episode(self) -> Episode:
        """The events, folded."""
        return fold(self.events)

    @property
    def ended(self) -> EpisodeEnded:
        """How it ended."""
        return self.bodies(EpisodeEnded)[0]

    def bodies(self, kind: type) -> list:
        """Return the bodies of one type, in order."""
        return [event.body for event in self.events if isinstance(event.body, kind)]

    def asked(self, who: str) -> list[GenerateRequested]:
        """Return the questions to one model."""
        return [body for body in self.bodies(GenerateRequested) if body.who == who]

    def ran(self, name: str) -> bool:
        """Whether a tool was reached."""
        return any(called == name for called, _ in self.called)

    def replayed(self) -> ReplayResult:
        """Replay the episode from its record."""
        return asyncio.run(replay_episode(self.events))

    def reverified(self, *replies: Scripted) -> list[Recheck]:
        """Put its reviews to another verifier."""
        verifier = ScriptedModel(replies, name="second")
        return asyncio.run(reverify_episode(self.events, verifier, self.store, "again"))[0]


def play(  # noqa: PLR0913 - an episode's parts, by name
    weak: Sequence[Scripted],
    strong: Sequence[Scripted],
    outputs: dict[str, str] | None = None,
    *,
    native: bool = False,
    weak_parameters: str = "{}",
    store: EventStore | None = None,
) -> Played:
    """Record one episode; a tool answers as `outputs` says, else with an empty list."""
    said, called = outputs or {}, []

    def answer(name: str, **arguments: object) -> str:
        called.append((name, arguments))
        return said.get(name, "[]")

    @tool(effect="read")
    def find_member(card: str) -> str:
        """Find a member by card."""
        return answer("find_member", card=card)

    @tool(effect="read")
    def list_loans(member_id: int) -> str:
        """List a member's loans."""
        return answer("list_loans", member_id=member_id)

    @tool(effect="read")
    def branch_hours() -> str:
        """Say when the branch is open."""
        return answer("branch_hours")

    @tool(effect="write")
    def renew_loan(loan_id: int, days: int) -> str:
        """Renew a loan."""
        return answer("renew_loan", loan_id=loan_id, days=days)

    @tool(effect="write")
    def charge_fee(member_id: int, cents: int) -> str:
        """Charge a fee."""
        return answer("charge_fee", member_id=member_id, cents=cents)

    tools = [find_member, list_loans, branch_hours, renew_loan, charge_fee]
    desk = FunctionEnvironment.from_functions("desk", tools, "Renew at most 14 days.", tasks=[TASK])
    drafter = Limited(weak, name="weak-4b", calls="native" if native else "json")
    drafter.parameters = weak_parameters
    store = store or MemoryEventStore()
    clients = {"weak": drafter, "strong": ScriptedModel(strong, name="strong-397b")}
    recorded = asyncio.run(record(TASK, desk, clients, SpecAgent(), store))
    return Played(list(store.read(recorded.episode)), called, store)


def play_review(case: Path, *replies: Scripted, store: EventStore | None = None) -> Played:
    """Record the cases' segment, put to the strong model, which says `replies`; then the weak one finishes."""
    calls, outputs = segment(case / "segment.json")
    return play([*calls, DONE], replies, outputs, store=store)


def play_unusable(case: Path, said: Completion, store: EventStore | None = None) -> Played:
    """Record the cases' segment with a review that says the same unusable thing twice, and a corrective turn."""
    return play_review(case, said, said, written(OTHER), accept(), store=store)


def assert_no_verdict(desk: Played, cause: str) -> None:
    """Assert that the review was asked for again once, then nothing was accepted, and the held action never ran."""
    verdict, held = desk.bodies(VerdictGiven)[0], desk.bodies(ActionHeld)[0]
    told = [(fact.role, fact.next, cause in fact.cause) for fact in desk.bodies(ReplyUnusable)]
    acts = [(act.tool, act.authority.partition(":")[0]) for act in desk.bodies(ActRequested)]

    assert (verdict.outcome, verdict.status, verdict.accepted, verdict.replacement) == ("unusable", "unusable", 0, None)
    assert cause in verdict.cause
    assert told == [("reviewer", "asked_again", True), ("reviewer", "gave_up", True)]
    assert held.tool == "renew_loan"
    assert not desk.ran("renew_loan")
    assert acts[3:] == [("branch_hours", "repair"), (None, "verdict")]
    assert [fact.reason for fact in desk.bodies(StepsDiscarded)] == ["unusable"]
    assert desk.replayed().result == "same"
