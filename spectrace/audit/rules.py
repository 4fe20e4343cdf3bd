"""What must never happen, recognised in a recording: a registry of rules. `spectrace audit violations` asks them all.

A rule reads one episode's events and names the event that breaks it, with a sentence. It judges what a log says was
done, an imported log too; whether the log itself is whole is `verify`'s to say. A *violation* is what cannot have
happened under the recorded protocol and options; a *warning* is what may well be right, and worth a look. What a log
does not say cannot be judged: a rule says which events it was to judge (`subjects`), and a Tally counts those that it
could not.

A rule of your own is a Rule, or a function alone; `--with checks:no_late_writes`, or spectrace.toml, names it:

    from spectrace.audit.rules import Rule

    def late(events):
        for event in events:
            if event.type == "act.requested" and event.body.effect == "write" and event.seq > 20:
                yield event.seq, f"{event.body.tool} came late"

    no_late_writes = Rule("late_write", "No write comes after event 20.", "warning", late)

Nothing that a recording names is ever imported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from spectrace.audit import rules_again as again
from spectrace.audit import rules_authority as authority
from spectrace.audit import rules_log as log
from spectrace.audit import rules_order as order
from spectrace.audit import rules_review as review
from spectrace.audit import rules_state as state
from spectrace.audit.rules_account import Account, Found, account_of, judgeable, under_law
from spectrace.audit.rules_discarded import discarded_observation_used
from spectrace.audit.rules_exposure import external_read_after_data, external_reads
from spectrace.audit.rules_limits import limits_exceeded
from spectrace.audit.speculation import judged, speculative_writes
from spectrace.core.events import Event
from spectrace.errors import UsageError

VIOLATION, WARNING = "violation", "warning"
SEVERITIES = (VIOLATION, WARNING)

Find = Callable[[Sequence[Event]], Iterable[Found]]
"""Yields the number of the event that breaks the rule, and how it does; a third member is another severity."""
Subjects = Callable[[Sequence[Event]], Iterable[tuple[int, bool]]]
"""Yields the number of each event that the rule is about, and whether the log says enough to judge it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What must never happen: an id, a sentence that says what holds instead, how bad it is, and how it is found."""

    id: str
    sentence: str
    severity: str
    find: Find
    subjects: Subjects | None = None
    """None: whatever it reads it can judge."""
    prompts: bool = False
    """Whether it reads prompts, which grow with the square of an episode: else its calls have no messages."""

    def __post_init__(self) -> None:
        """Refuse a severity that there is not."""
        if self.severity not in SEVERITIES:
            raise UsageError(f"rule {self.id}: severity is {' or '.join(SEVERITIES)}, found {self.severity!r}.")


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an event breaks."""

    episode: str
    seq: int
    rule: str
    detail: str
    severity: str = VIOLATION


@dataclass(frozen=True, slots=True)
class Failed:
    """A rule that could not be asked of an episode, and why. What the others find stands."""

    episode: str
    rule: str
    error: str


def _own(
    name: str,
    sentence: str,
    find: Callable[[Account], Iterable[Found]],
    subjects: Callable[[Account], Iterable[tuple[int, bool]]] | None = None,
    severity: str = VIOLATION,
) -> Rule:
    asks = None if subjects is None else lambda events: subjects(account_of(events))
    return Rule(name, sentence, severity, lambda events: find(account_of(events)), asks)


def _speculative(account: Account) -> Iterator[tuple[int, bool]]:
    return zip((act.seq for act in account.sent()), judged(account), strict=False)


_ALL = (
    _own(
        "write_before_verdict",
        "What was held is sent after the verdict on it, and nothing before the event that it names as its authority.",
        authority.write_before_verdict,
        judgeable,
    ),
    _own(
        "write_without_authority",
        "Every write, reply and final answer runs on an authority that is there and that the protocol has.",
        authority.write_without_authority,
        judgeable,
    ),
    _own(
        "verdict_elsewhere",
        "The verdict or repair that an action names is about that very step.",
        authority.verdict_elsewhere,
        judgeable,
    ),
    _own(
        "write_after_rejection",
        "A step that a verdict did not accept is never sent.",
        authority.write_after_rejection,
        judgeable,
    ),
    _own(
        "executed_differs",
        "What is sent is what was drafted, held and approved, or the replacement, to the letter.",
        authority.executed_differs,
    ),
    _own(
        "undrafted_act", "Every action that is sent was drafted, guessed or repaired before.", authority.undrafted_act
    ),
    _own(
        "effect_understated",
        "No tool that is declared to change something is taken for a read.",
        authority.effect_understated,
        under_law,
    ),
    _own(
        "reply_unreviewed",
        "No reply goes out without a verdict where the options hold replies.",
        authority.reply_unreviewed,
        under_law,
    ),
    _own(
        "edited_without_person",
        "An edited verdict or outcome names the person, and so does what is done on it.",
        authority.edited_without_person,
    ),
    _own("not_held", "What the options hold back is held before it is sent.", review.not_held, under_law),
    _own(
        "unreviewed_write",
        "No write runs unreviewed, and no segment with one is committed unreviewed.",
        review.unreviewed_write,
        judgeable,
    ),
    _own(
        "verdict_contradicts",
        "A verdict says one thing, of the steps that were waiting for it, and once.",
        review.verdict_contradicts,
    ),
    _own("false_review", "What is committed as reviewed was accepted by a verdict.", review.false_review),
    _own(
        "review_skipped",
        "A segment that the options put to the reviewer is not committed unreviewed.",
        review.review_skipped,
    ),
    _own(
        "repair_without_rejection",
        "The strong model repairs only what a verdict on that segment did not accept, or what nobody could read.",
        review.repair_without_rejection,
    ),
    _own(
        "invalid_replacement",
        "A replacement is done only if the options, the tool's schema and the environment's check allow it.",
        review.invalid_replacement,
    ),
    _own(
        "sent_though_invalid",
        "An action that was objected to, or that its tool's schema refuses, is never sent.",
        review.sent_though_invalid,
        under_law,
    ),
    _own(
        "said_by_nobody",
        "Every draft and every verdict follows from a model call that was answered, and says what it said.",
        order.said_by_nobody,
    ),
    _own(
        "acted_on_unknown",
        "After an action of unknown outcome nothing is asked or sent any more.",
        order.acted_on_unknown,
    ),
    _own(
        "sent_after_error",
        "The actions of one message stop at the first error, but for drafts, which read it.",
        order.sent_after_error,
    ),
    _own(
        "speculative_write",
        "Nothing that changes the world or speaks to somebody runs on a guess.",
        speculative_writes,
        _speculative,
    ),
    _own(
        "discarded_observation_used",
        "No prompt shows what was read for a step that was discarded before.",
        discarded_observation_used,
    ),
    _own(
        "read_changed_state",
        "A read leaves the state as it was; one that did not is recorded as an unreviewed write.",
        state.read_changed_state,
        state.reads_with_state,
    ),
    _own(
        "state_moved",
        "What was approved is done on the state that it was approved on; where it moved, the log says so.",
        state.state_moved,
        state.held_with_state,
    ),
    _own(
        "repeated_write",
        "No idempotency key is used twice; the same write twice is worth a look.",
        state.repeated_write,
    ),
    _own(
        "limits_exceeded",
        "No segment is longer than K, no model is asked beyond a budget or a stretch.",
        limits_exceeded,
    ),
    _own(
        "answer_misplaced", "A question has one answer, of its own kind and for the same action.", log.answer_misplaced
    ),
    _own("act_after_end", "Behind an episode's end there is only a person's word.", log.act_after_end),
    _own(
        "settled_by_nobody",
        "An outcome is settled by a person, with evidence, and only where it was unknown.",
        log.settled_by_nobody,
    ),
    _own(
        "unfit_task", "The task is the one that its digest names, and the reward one that it can give.", log.unfit_task
    ),
    _own(
        "tools_changed",
        "The tools stay as they were at the beginning, and every model is sent these.",
        log.tools_changed,
    ),
    _own(
        "not_by_the_protocol",
        "The protocol, run again from the record, asks and says what is recorded, prompts and all.",
        again.not_by_the_protocol,
        again.followed,
    ),
    _own(
        "answered_by_another",
        "What the strong model is asked is not answered by the weak one, nor the other way round.",
        again.answered_by_another,
    ),
    _own("outcome_misstated", "An action's outcome is what its observation says.", again.outcome_misstated),
    _own("totals_misstated", "An end's totals are what its events add up to.", again.totals_misstated),
    _own(
        "external_read_after_data",
        "No unreviewed look-up sends text of an earlier observation to an outside party.",
        external_read_after_data,
        external_reads,
        WARNING,
    ),
)

RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in _ALL})
"""Id -> rule, in the order in which they are listed."""


@dataclass(slots=True)
class Tally:
    """How much there was to judge, by rule. It counts while violations are looked for."""

    subjects: dict[str, int] = field(default_factory=dict)
    """Rule -> events that it was to judge."""
    unjudged: dict[str, int] = field(default_factory=dict)
    """Rule -> those of them of which the log does not say enough."""
    acts: int = 0
    """Actions that changed something or spoke to somebody."""
    beyond: int = 0
    """Those of them to which no rule at all could be applied."""
    erased: int = 0
    """Events whose bodies were erased: of these nothing is judged but what their headers say."""
    failed: list[Failed] = field(default_factory=list)

    def count(self, account: Account, rules: Iterable[Rule] = RULES.values()) -> None:
        """Add an episode."""
        acts = {act.seq for act in account.sent()}
        asked, judged = set[int](), set[int]()
        for rule in rules:
            for seq, could in rule.subjects(account) if rule.subjects is not None else ():
                self.subjects[rule.id] = self.subjects.get(rule.id, 0) + 1
                self.unjudged[rule.id] = self.unjudged.get(rule.id, 0) + (not could)
                asked.add(seq)
                judged.update({seq} if could else ())
        self.acts += len(asked & acts)
        self.beyond += len((asked - judged) & acts)
        self.erased += account.erased

    @property
    def nothing_judged(self) -> bool:
        """Whether there was something to judge, and all of it is beyond judgement."""
        return 0 < self.acts == self.beyond


def violations(
    events: Sequence[Event], rules: Iterable[Rule] | None = None, *, tally: Tally | None = None
) -> list[Violation]:
    """Return what an episode's events break, in their order; of no events, nothing.

    A rule that raises is told to the `tally`, with the episode, and hides no other; without a tally it raises.
    """
    if not events:
        return []
    account, found = account_of(events), list[Violation]()
    asked = tuple(RULES.values() if rules is None else rules)
    if tally is not None:
        tally.count(account, [rule for rule in asked if rule.id in RULES])
    for rule in asked:
        try:
            for one in rule.find(account):
                found.append(_violation(account, rule, one))
        except (Exception, SystemExit) as error:  # a rule may be anybody's, and a log may hold anything
            if tally is None:
                raise
            tally.failed.append(Failed(events[0].episode, rule.id, f"{type(error).__name__}: {error}"))
    return sorted(found, key=lambda one: (one.seq, one.rule))


def _violation(account: Account, rule: Rule, found: Found) -> Violation:
    seq, detail, severity = (*found, rule.severity)[:3]
    if type(seq) is not int or seq not in account.by_seq or not isinstance(detail, str) or severity not in SEVERITIES:
        wanted = "(number of an event of the episode, text), with a severity or without"
        raise UsageError(f"a rule yields pairs of {wanted}; found {found!r}.")
    return Violation(account[0].episode, seq, rule.id, detail, severity)


def rule_of(name: str, value: object) -> Rule:
    """Return a user's Rule, or a function as one: its docstring's first line is what holds."""
    if isinstance(value, Rule):
        return value
    if not callable(value) or isinstance(value, type):
        raise UsageError(
            f"rule {name}: expected a spectrace.audit.rules.Rule or a function from events to (number, text) pairs, "
            f"found {type(value).__name__}."
        )
    sentence = (getattr(value, "__doc__", None) or name).strip().splitlines()[0]
    return Rule(name, sentence, VIOLATION, value)
