"""Rules are asked one after the other; findings come in the order of the events, with what cannot be judged counted."""

from dataclasses import replace

import pytest

import spectrace.audit.rules
from spectrace.audit.rules import RULES, SEVERITIES, Failed, Rule, Tally, Violation, rule_of, violations
from spectrace.core.events import ActCompleted, ActRequested, Origin, Unknown
from spectrace.errors import UsageError
from tests.episodes import recorded_events


def found(*pairs):
    return lambda events: iter(pairs)


def named(name, *pairs, severity="violation"):
    return Rule(name, "It never happens.", severity, found(*pairs))


EVENTS = recorded_events()
EPISODE = EVENTS[0].episode


def of_nobody(events):
    """The same log as an import: it names no authority."""
    origin = Origin("openai", "talk.json", "sha256:0", "0")
    first = replace(events[0], body=replace(events[0].body, origin=origin, protocol="imported", options="{}"))
    acts = ActRequested | ActCompleted
    others = [replace(e, body=replace(e.body, authority="unknown")) if isinstance(e.body, acts) else e for e in events]
    return [first, *others[1:]]


def test_what_every_rule_finds_comes_in_the_order_of_the_events():
    rules = [named("late", (9, "later")), named("early", (2, "sooner"), severity="warning")]

    assert violations(EVENTS, rules) == [
        Violation(EPISODE, 2, "early", "sooner", "warning"),
        Violation(EPISODE, 9, "late", "later", "violation"),
    ]


def test_a_finding_may_have_another_severity_than_its_rule():
    (one,) = violations(EVENTS, [named("mixed", (2, "worth a look", "warning"))])

    assert one.severity == "warning"


def test_a_recorded_episode_breaks_nothing_and_no_events_do():
    assert violations(EVENTS) == []
    assert violations([]) == []


def test_every_rule_has_a_sentence_of_its_own_and_a_severity_that_there_is():
    assert len({rule.sentence for rule in RULES.values()}) == len(RULES)
    assert all(rule.sentence.endswith(".") and rule.severity in SEVERITIES for rule in RULES.values())
    assert [rule.id for rule in RULES.values()] == list(RULES)


def test_an_act_of_unknown_authority_cannot_be_judged():
    tally = Tally()
    violations(of_nobody(EVENTS), tally=tally)

    assert (tally.acts, tally.beyond, tally.nothing_judged) == (2, 2, True)
    assert tally.unjudged["write_before_verdict"] == tally.subjects["write_before_verdict"] == 2


def test_an_act_under_a_protocol_of_ours_can_be_judged_and_one_rule_says_how_much():
    tally = Tally()
    violations(EVENTS, tally=tally)

    assert (tally.acts, tally.beyond, tally.nothing_judged) == (2, 0, False)
    assert (tally.subjects["write_without_authority"], tally.unjudged["write_without_authority"]) == (2, 0)


def test_a_log_without_any_write_leaves_nothing_unjudged():
    tally = Tally()
    violations(EVENTS[:6], tally=tally)

    assert (tally.acts, tally.nothing_judged) == (0, False)


def test_an_erased_event_is_counted_and_rules_that_rest_on_an_absence_are_not_asked():
    erased = [replace(e, body=Unknown(e.type, e.version, "null")) if e.type == "step.drafted" else e for e in EVENTS]
    tally = Tally()

    assert violations(erased, tally=tally) == []
    assert tally.erased == sum(e.type == "step.drafted" for e in EVENTS)


def test_what_a_header_says_of_an_erased_act_is_judged():
    (act, *_) = [e for e in EVENTS if isinstance(e.body, ActRequested) and e.body.effect == "write"]
    gone = Unknown(act.type, act.version, "null", "write", "verdict:0", None, act.body.tool)
    erased = [replace(e, body=gone) if e is act else e for e in EVENTS]

    assert [(one.seq, one.rule) for one in violations(erased)] == [(act.seq, "write_without_authority")]


def raises(events):
    yield 1, "seen"
    raise KeyError("mine")


def leaves(events):
    yield 1, "seen"
    raise SystemExit(0)


@pytest.mark.parametrize(("find", "error"), [(raises, "KeyError: 'mine'"), (leaves, "SystemExit: 0")])
def test_a_rule_that_raises_is_named_with_the_episode_and_hides_nothing(find, error):
    tally = Tally()
    rules = [Rule("mine", "It holds.", "violation", find), named("other", (3, "found"))]

    assert [(one.seq, one.rule) for one in violations(EVENTS, rules, tally=tally)] == [(1, "mine"), (3, "other")]
    assert tally.failed == [Failed(EPISODE, "mine", error)]


def test_without_a_tally_a_rule_that_raises_raises():
    with pytest.raises(KeyError, match="mine"):
        violations(EVENTS, [Rule("mine", "It holds.", "violation", raises)])


@pytest.mark.parametrize("pair", [(10_000, "no event"), ("2", "no number"), (2, None), (2, "x", "grave"), (True, "x")])
def test_what_is_no_finding_is_refused(pair):
    with pytest.raises(UsageError, match="a rule yields pairs"):
        violations(EVENTS, [named("odd", pair)])


def test_a_function_is_a_rule_by_the_first_line_of_its_docstring():
    def late(events):
        """No write is late.

        More of it.
        """
        return [(2, "late")]

    rule = rule_of("checks:late", late)

    assert (rule.id, rule.sentence, rule.severity) == ("checks:late", "No write is late.", "violation")
    assert violations(EVENTS, [rule]) == [Violation(EPISODE, 2, "checks:late", "late")]


@pytest.mark.parametrize("value", [7, "late", Rule])
def test_what_is_no_rule_is_refused_by_its_name(value):
    with pytest.raises(UsageError, match="rule checks:late: expected"):
        rule_of("checks:late", value)


def test_a_severity_that_there_is_not_is_refused():
    with pytest.raises(UsageError, match="severity is violation or warning, found 'grave'"):
        Rule("mine", "It holds.", "grave", raises)


def test_the_example_that_is_documented_is_a_rule_that_works():
    lines = (spectrace.audit.rules.__doc__ or "").splitlines()
    example = "\n".join(line.removeprefix("    ") for line in lines if line.startswith("    "))
    there: dict[str, object] = {}
    exec(compile(example, "example", "exec"), there)  # noqa: S102 - our own docstring
    rule = there["no_late_writes"]
    (act,) = [one for one in EVENTS if isinstance(one.body, ActRequested) and one.body.effect == "write"]

    assert isinstance(rule, Rule)
    assert violations(EVENTS, [rule]) == [
        Violation(EPISODE, act.seq, "late_write", "cancel_order came late", "warning")
    ]
