"""`audit violations`: which rules are asked, and those of the user's own."""

import sys

import pytest

from spectrace.audit.rules import RULES
from spectrace.store.sql import open_store
from tests.altered import approved, on, put, store_all
from tests.command_line import in_a_directory
from tests.shop_log import recorded

CHECKS = """\
from spectrace.audit.rules import Rule


def late(events):
    '''No write is sent as late as this.'''
    print("looking")
    for event in events:
        if event.type == "act.requested" and event.body.effect == "write":
            yield event.seq, f"{event.body.tool} came late"


def raises(events):
    raise ValueError("no [bold]idea[/bold]")


def odd(events):
    return [(1, 2)]


warned = Rule("late_write", "No write is late.", "warning", late)
"""


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def episode(line):
    """An episode with one rejected, repaired and completed write; the log lies in the working directory."""
    store = open_store("spectrace.db")
    made = recorded(store)
    store.close()
    return made


@pytest.fixture
def checks(tmp_path, episode):
    """A module of the user's in the working directory."""
    (tmp_path / "checks_of_mine.py").write_text(CHECKS)
    yield "checks_of_mine"
    sys.modules.pop("checks_of_mine", None)
    sys.path[:] = [one for one in sys.path if one != str(tmp_path)]


def test_the_rules_are_listed_with_what_holds(line):
    items = line.items("audit", "violations", "--rules")

    assert [(one["rule"], one["severity"], one["sentence"]) for one in items] == [
        (rule.id, rule.severity, rule.sentence) for rule in RULES.values()
    ]
    assert "write_before_verdict" in line("audit", "violations", "--rules").stdout


def test_one_rule_can_be_listed_and_asked(line, episode):
    assert [one["rule"] for one in line.items("audit", "violations", "--rules", "--rule", "not_held")] == ["not_held"]
    assert line.items("audit", "violations", "--rule", "not_held", "--rule", "false_review") == []


def test_a_rule_that_there_is_not_is_refused(line, episode):
    result = line("audit", "violations", "--rule", "not_helt")

    assert (result.exit_code, "did you mean not_held?" in result.stderr) == (2, True)


def test_a_function_of_the_users_is_asked_beside_ours(line, episode, checks):
    (item,) = line.items("audit", "violations", "--with", f"{checks}:late", code=1)

    assert (item["rule"], item["detail"], item["severity"]) == (f"{checks}:late", "cancel_order came late", "violation")


def test_warnings_alone_are_no_reason_for_exit_1(line, episode, checks):
    (item,) = line.items("audit", "violations", "--with", f"{checks}:warned")

    assert (item["rule"], item["severity"]) == ("late_write", "warning")
    assert line.items("audit", "violations", "--with", f"{checks}:warned", "--no-warnings") == []


def test_rules_are_named_in_the_settings_too(line, episode, checks, tmp_path):
    (tmp_path / "spectrace.toml").write_text(f'[audit]\nrules = ["{checks}:warned"]\n')

    assert [one["rule"] for one in line.items("audit", "violations")] == ["late_write"]
    listed = line.items("audit", "violations", "--rules")
    assert listed[-1] == {"rule": "late_write", "severity": "warning", "sentence": "No write is late."}


@pytest.mark.parametrize(("name", "why"), [("raises", "ValueError: no [bold]idea[/bold]"), ("odd", "found (1, 2)")])
def test_a_rule_that_raises_is_named_with_the_episode_and_hides_nothing(line, episode, checks, name, why):
    result = line("audit", "violations", "--with", f"{checks}:{name}", "--with", f"{checks}:warned")

    assert result.exit_code == 3
    assert f"{episode}: the rule {checks}:{name} could not be asked" in result.stderr.replace("\n", " ")
    assert why in " ".join(result.stderr.split())
    assert "cancel_order came late" in result.stdout


def test_what_a_rule_prints_is_not_in_the_document(line, episode, checks):
    result = line("audit", "violations", "--with", f"{checks}:warned", "--json")

    assert "looking" not in result.stdout


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("late", "MODULE:ATTRIBUTE, found 'late'"),
        ("checks_of_mine:lte", "has no attribute 'lte' (did you mean late?)"),
        ("nowhere_at_all:late", "there is no module nowhere_at_all"),
        ("checks_of_mine:CHECKS", "has no attribute 'CHECKS'"),
        ("checks_of_mine:Rule", "expected a spectrace.audit.rules.Rule or a function"),
    ],
)
def test_what_is_no_rule_is_refused(line, checks, name, why):
    result = line("audit", "violations", "--with", name)

    assert (result.exit_code, why in " ".join(result.stderr.split())) == (2, True), result.stderr


def test_an_id_that_there_is_already_is_refused(line, episode, tmp_path, checks):
    (tmp_path / "spectrace.toml").write_text(f'[audit]\nrules = ["{checks}:warned"]\n')
    other = (tmp_path / f"{checks}.py").read_text() + "\nagain = Rule('late_write', 'No.', 'warning', late)\n"
    (tmp_path / f"{checks}.py").write_text(other)

    result = line("audit", "violations", "--with", f"{checks}:again")
    assert (result.exit_code, "there is a rule late_write already" in " ".join(result.stderr.split())) == (2, True)


HOSTILE = [
    "[/bold]",
    "[b",
    "{p}/{t}[/{n}...]/read",
    "\x1b]8;;http://evil.example\x1b\\x\x1b[2J",
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png)",
    "=1+1",
    "\u202egnp.exe",
]


@pytest.fixture
def altered(line, episode, tmp_path):
    """A function that stores the episode anew, its approved write changed by what it is given."""

    def alter(change) -> str:
        store = open_store("spectrace.db")
        events = change(list(store.read(episode)))
        store.close()
        target = open_store("altered.db")
        store_all(target, events)
        target.close()
        return "altered.db"

    return alter


@pytest.mark.parametrize("text", HOSTILE)
def test_recorded_text_in_a_detail_is_shown_literally(line, altered, text):
    def named(events):
        act = approved(events)[0]
        return put(on(events, act, f"person:{text}"), act.seq, tool=text)

    db = altered(named)
    result = line("audit", "violations", "--db", db)
    details = [one["detail"] for one in line.items("audit", "violations", "--db", db, code=1)]

    assert result.exit_code == 1
    assert not {"\x1b", "\u202e", "\x9b"} & set(result.stdout + result.stderr)
    assert any(text in one for one in details) or any(repr(text)[1:-1] in one for one in details)
    if text.isprintable():
        assert text in "".join(result.stdout.split("\n"))


def test_a_recording_that_names_a_module_has_it_imported_by_nobody(line, altered, tmp_path):
    (tmp_path / "trap_of_theirs.py").write_text("raise SystemExit('imported')")

    def named(events):
        environment = type(events[0].body.environment)("trap_of_theirs:rule", "trap_of_theirs", "1")
        return put(events, 0, environment=environment, labels=(("rules", "trap_of_theirs:rule"),))

    assert line("audit", "violations", "--db", altered(named)).exit_code == 0
    assert "trap_of_theirs" not in sys.modules
