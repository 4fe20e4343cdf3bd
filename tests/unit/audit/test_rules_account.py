"""An account holds what a log says, and knows what it does not say."""

import json
from dataclasses import replace

from spectrace.audit.rules_account import Account, account_of
from spectrace.core.events import ActRequested, Unknown, VerdictGiven
from spectrace.core.specagent import SpecAgent
from tests.altered import each, put
from tests.episodes import recorded_events
from tests.properties.played import play
from tests.properties.scripts import Judged, Script

EVENTS = recorded_events()


def test_an_account_is_the_events_themselves():
    account = Account(EVENTS)

    assert (list(account), len(account), account[0]) == (EVENTS, len(EVENTS), EVENTS[0])
    assert list(account[1:3]) == EVENTS[1:3]
    assert account_of(account) is account


def test_the_options_are_the_protocols_own_value():
    assert Account(EVENTS).specagent == SpecAgent()


def test_options_that_cannot_be_read_are_no_law():
    for text in ("{", "[]", '{"k": "six"}', '{"hold": "nothing"}', "[" * 100_000):
        assert Account(put(EVENTS, 0, options=text)).specagent is None


def test_an_option_that_a_newer_version_adds_is_passed_over():
    options = json.dumps({**json.loads(EVENTS[0].body.options), "later": 1})

    assert Account(put(EVENTS, 0, options=options)).specagent == SpecAgent()


def test_an_authority_is_a_kind_and_an_event():
    first = each(EVENTS, ActRequested)[0]
    told = {"verdict:12": ("verdict", 12), "person:Ana": ("person", None), "verdict:": ("verdict", None)}
    told |= {"repair:1x": ("repair", None), "verdict:99999999": ("verdict", None), "read": ("read", None)}
    for text, named in told.items():
        account = Account(put(EVENTS, first.seq, authority=text))

        assert account.acts[first.seq].named == named


def test_a_log_is_whole_without_prompts_and_not_without_an_event_or_a_body():
    asked = each(EVENTS, VerdictGiven)[0]
    gone = [replace(e, body=Unknown(e.type, 1, "null")) if e is asked else e for e in EVENTS]
    prompts = [replace(e, body=Unknown(e.type, 1, "null")) if e.type == "generate.requested" else e for e in EVENTS]

    assert [Account(one).whole for one in (EVENTS, prompts, gone, EVENTS[1:])] == [True, True, False, False]
    assert Account(gone).erased == 1


def test_a_verdict_that_reaches_back_is_about_the_segments_that_were_open():
    script = Script(weak=("read", "read", "read", "write"), strong=("read",), verdicts=(Judged("reject", "last"),))
    events = play(script, SpecAgent, {"k": 2, "unreviewed": "revisable"}).events
    (given,) = each(events, VerdictGiven, outcome="reject")
    under = Account(events).under[given.seq]

    assert (under.steps, under.kept, under.drafted) == ({1: 2, 2: 2}, {1: 2, 2: 1}, 4)


def test_a_log_that_begins_with_something_else_has_no_law():
    account = Account(EVENTS[3:])

    assert (account.started, account.own, account.setup, account.specagent) == (None, False, None, None)
