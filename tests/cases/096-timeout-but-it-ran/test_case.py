"""Case 096: a call that timed out may have run: one charge is never a fact, the ledger says one to two."""

import csv
import json
from pathlib import Path

import pytest

from spectrace.audit.reconciling import Write, reconcile
from spectrace.audit.record_file import read_records
from spectrace.audit.repeats import repeated
from spectrace.audit.settling import settle
from spectrace.core.deeds import deeds
from spectrace.core.events import ActCompleted, ActFailed, ActRequested, Body, OutcomeSettled
from spectrace.core.types import Call, Observation
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from tests.episodes import recorded_events

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LINES = [json.loads(line) for line in (CASE / "events.jsonl").read_text().splitlines()]
CHARGES = json.loads((CASE / "ledger_of_server.json").read_text())
WORDS = {"unknown": "indeterminate", "ran": "ok"}


def body(line: dict, asked: dict[str, tuple[int, Body]]) -> Body:
    """Return a line of the case as an event."""
    common = {"effect": "write", "authority": "actor", "tool": "charge_fee"}
    if line["type"] == "tool_started":
        action = Call(line["name"], json.dumps(line["arguments"]))
        key, position = line["call"], f"s{len(asked) + 1}.1"
        return ActRequested(action=action, position=position, requestor="agent", idempotency_key=key, **common)
    request, question = asked[line["call"]]
    common |= {"request": request, "position": question.position, "latency_us": 1, "source": "live"}
    if line["type"] == "tool_timeout":
        error = f"no answer within {line['after_ms']} ms"
        return ActFailed(outcome="indeterminate", kind="timeout", error=error, **common)
    return ActCompleted(
        outcome="ok",
        observation=Observation(line["output"]),
        fingerprint_before=None,
        fingerprint_after=None,
        **common,
    )


@pytest.fixture
def log():
    """The case's episode in a store, and the number of each call's act.requested."""
    store, asked = MemoryEventStore(), {}
    writer = store.create("ep-1", recorded_events()[0].body, 1)
    for line in LINES:
        made = body(line, asked)
        writer.append([Pending(line["seq"], "", line["seq"], made)], durable=True)
        if line["type"] == "tool_started":
            asked[line["call"]] = line["seq"], made
    writer.close()
    return store, {call: seq for call, (seq, _) in asked.items()}


def test_the_first_call_is_unknown_and_the_second_ran(log):
    store, asked = log
    outcomes = {deed.seq: deed.outcome for deed in deeds(store.read("ep-1"))}

    assert {call: outcomes[seq] for call, seq in asked.items()} == {
        call: WORDS[EXPECTED[call]] for call in ("c1", "c2")
    }


def test_both_are_a_possible_duplicate_and_how_many_there_were_is_a_range(log):
    store, asked = log
    (group,) = repeated(deeds(store.read("ep-1")))

    assert group.seqs == tuple(asked.values())
    assert [group.least, group.most] == EXPECTED["range"]


def test_what_is_found_later_in_the_servers_ledger_is_a_new_event_and_then_the_count_is_known(log):
    store, asked = log
    before = list(store.read("ep-1"))
    settle(store, "ep-1", asked["c1"], "ok", evidence=f"the server has {CHARGES[0]}", by="Ann")
    after = list(store.read("ep-1"))
    (group,) = repeated(deeds(after))

    assert after[: len(before)] == before
    assert isinstance(after[-1].body, OutcomeSettled)
    assert (group.least, group.most) == (len(CHARGES), len(CHARGES))


def reconciled(store, tmp_path, charges):
    """The server's ledger as CSV, beside the log; its records name the charge and the cents."""
    path = tmp_path / "server.csv"
    with path.open("w", newline="") as stream:
        rows = csv.DictWriter(stream, ["charge_id", "cents"])
        rows.writeheader()
        rows.writerows(charges)
    file = read_records(path, {"charge_id": "id", "cents": "arg.cents"}, "charge_fee")
    return list(reconcile(file, [Write(deed) for deed in deeds(store.read("ep-1"))], 60_000_000))


def test_beside_the_servers_ledger_the_first_call_is_found_and_settled_as_such(log, tmp_path):
    store, asked = log
    found = reconciled(store, tmp_path, CHARGES)
    (later,) = [one for one in found if one.result == "found"]

    assert sorted(one.result for one in found) == ["found", "matched"]
    assert later.deed.seq == asked["c1"]
    assert later.detail.startswith("ran (found later)")
    settle(store, "ep-1", later.deed.seq, "ok", evidence=later.detail, by="Ann")
    assert [one.result for one in reconciled(store, tmp_path, CHARGES)] == ["matched", "matched"]


def test_with_one_charge_in_the_servers_ledger_nobody_guesses_which_call_it_was(log, tmp_path):
    store, _ = log

    assert [one.result for one in reconciled(store, tmp_path, CHARGES[:1])] == ["ambiguous", "ambiguous"]


def test_with_none_the_first_did_not_run_and_the_second_is_in_the_log_only(log, tmp_path):
    store, asked = log
    found = {one.deed.seq: one.result for one in reconciled(store, tmp_path, [])}

    assert found == {asked["c1"]: "not_found", asked["c2"]: "log_only"}
