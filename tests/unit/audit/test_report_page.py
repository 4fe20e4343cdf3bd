import hashlib
import io
import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from spectrace.audit.integrity import VerifyResult
from spectrace.audit.queries import open_reader
from spectrace.audit.reading import Unread
from spectrace.audit.report import Report, Wanted, report
from spectrace.audit.report_figures import Figures
from spectrace.audit.report_log import File, Head, LogIdentity
from spectrace.audit.report_numbers import numbers
from spectrace.audit.report_open import OpenAction, Word
from spectrace.audit.report_page import HEAD, MOST, fold, write
from spectrace.audit.report_proof import SignatureLine, Witness
from spectrace.audit.report_records import Record
from spectrace.audit.report_rows import Deeds
from spectrace.audit.rules import Failed, Rule, Tally, Violation
from spectrace.audit.unknowns import NotKnown
from spectrace.audit.unreviewed import Unreviewed
from spectrace.audit.visible import one_line
from spectrace.core.deeds import Deed
from spectrace.core.digest import text_digest
from tests.report_pages import ATTRIBUTES, ELEMENTS, Page
from tests.viewer.logs import hostile_log

HOSTILE = (
    "[/bold]",
    "{p}/{t}[/{n}...]/read",
    "[b",
    "\x1b]8;;http://198.51.100.7\x07\x1b[2J\x1bc",
    "<img src=x onerror=alert(1)>",
    "![pixel](http://198.51.100.7/m.png)",
    "=1+1",
    "abc\u202edef\u2066\u200b\x00\ud800",
    "</script></style></title></pre></details></table><script>alert(1)</script>",
    "\"' onload=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}{# #}",
    "<!--", "]]>", "&amp;&#60;script&#62;", "javascript:alert(1)", "http://198.51.100.7/",
)  # fmt: skip
EVIL = " ".join(HOSTILE)


def page(made: Report, *, close: bool = True) -> Page:
    file = io.BytesIO()
    digest = write(made, file)
    if close:
        made.ran.close()
        made.never.close()
    assert digest == hashlib.sha256(file.getvalue()).hexdigest()
    return Page(file.getvalue().decode())


def hostile_deed(text: str) -> Deed:
    return Deed(
        episode=text,
        seq=1,
        position=text,
        tool=text,
        arguments=text,
        kind=text,
        effect_declared=text,
        effect_by=text,
        drafted_at=1,
        held_seq=1,
        verdict_seq=1,
        authority=text,
        reviewer_model=text,
        requested_at=1 << 62,
        completed_at=1,
        outcome=text,
        state_changed=None,
        result_digest=text,
        started_by=text,
        erased=True,
        simulated=True,
    )


def hostile_report(text: str, rows: int | None = None) -> Report:
    """Return a report in which every text is that one, and more: no log could be worse."""
    deed = hostile_deed(text)
    person = replace(deed, authority=f"person:{text}", tool=None)
    verdict = replace(deed, authority="verdict:1", requested_at=1)
    figures, ran, never = Figures(), Deeds(rows), Deeds(rows)
    for one in (deed, person, verdict):
        figures.count(one)
        ran.add(one)
        never.add(one)
    tally = Tally({text: 2}, {text: 1}, 2, 1, 1, [Failed(text, text, text)])
    rule = Rule("mine", text, "warning", lambda _: ())
    return Report(
        wanted=Wanted(title=text, url="x", selection=text, rows=rows, rules=(rule,)),
        log=LogIdentity(text, (File(text, 1, text), File(text, 1, text)), (Head(text, 1, text), Head(text, 2, text))),
        made_by=text,
        spectrace=text,
        begun_at=1,
        ran=ran,
        never=never,
        read_until=1 << 62,
        episodes=[text, text],
        statuses=Counter({text: 2}),
        figures=figures,
        unknowns=[NotKnown(text, 1, text, text, text), NotKnown("(database)", None, "uncovered", text)],
        unreviewed=[Unreviewed(text, 1, text, text, text, 1), Unreviewed(text, 1, "write", text)],
        open=[OpenAction(deed, text, (Word(1, 1, text, text, text),)), OpenAction(person, text, ())],
        violations=[Violation(text, 1, text, text, text), Violation(text, 1, "mine", text)],
        tally=tally,
        records=[Record(text, 1, text, text, text, (text,) * 30)],
        verified=[(VerifyResult(text, text, 1, 1, 1, text), text), (VerifyResult(text, "valid", 1, 1, 1, text), None)],
        witness=Witness(
            text, text, None, text, text, 1, text, 1, (SignatureLine(text, text, trusted=False),), (b"<b>",)
        ),
        lost=[Unread(text, None, text)],
    )


CALM = page(hostile_report("calm"))


@pytest.mark.parametrize("text", [*HOSTILE, EVIL, EVIL * 9, f"a\n{EVIL}\tb\r\nc"])
def test_hostile_text_in_every_field_makes_no_element_no_attribute_and_no_link(text):
    calm = page(hostile_report(re.sub("[^\n]", "c", text)))  # as long, so that it is folded alike
    found = page(hostile_report(text))

    assert set(found.elements) <= ELEMENTS
    assert found.attributes <= ATTRIBUTES
    assert all(link.startswith("#") for link in found.links)
    assert (found.elements, found.attributes) == (calm.elements, calm.attributes)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_stands_with_nothing_hidden(text):
    found = page(hostile_report(text))

    for table in ("ran-rows", "never-rows", "open-rows", "unknown-rows", "unreviewed-rows", "violation-rows"):
        assert one_line(text) in " ".join(cell for row in found.tables[table] for cell in row), table
    assert one_line(text) in found.texts["identity"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x0b-\x1f\x7f\ud800]", found.all_text)


def test_a_recorded_log_of_hostile_texts_is_a_page_of_texts(tmp_path):
    path = str(tmp_path / "log.db")
    hostile_log(tmp_path / "log.db")
    with open_reader(path) as reader, report(reader, Wanted(title="t", url=path, selection="s")) as made:
        found = page(made, close=False)

    assert set(found.elements) <= ELEMENTS
    assert "script" not in found.elements
    assert "<script>document.title='XSS'</script>" in found.all_text
    assert r"\u202e" in found.all_text


def test_the_page_holds_the_numbers_that_json_gives():
    made = hostile_report(EVIL)

    assert json.loads(page(made).texts["numbers-json"]) == json.loads(json.dumps(numbers(made)))


def test_rows_that_are_left_out_are_said_with_their_number_and_where_all_are():
    found = page(hostile_report("calm", rows=1))
    said = " ".join(found.all_text.split())

    assert len(found.tables["ran-rows"]) == len(found.tables["unknown-rows"]) == 1
    assert "These are the first 1 of 3 actions; 2 are left out. spectrace audit actions gives all" in said
    assert "These are the first 1 of 2 of them; 1 are left out. spectrace audit unknowns gives all" in said
    assert "These are the first 1 of 2 episodes; 1 are left out. spectrace verify --all gives all" in said


def test_a_long_text_is_folded_with_its_length_and_the_digest_of_all_of_it():
    text = "x" * (MOST + 5)

    assert fold("short").digest is None
    folded = fold(text)
    assert (folded.head, folded.length, folded.digest) == ("x" * HEAD, MOST + 5, text_digest(text))
    assert (len(folded.more), folded.left) == (MOST, 5)
    assert fold("a\nb").head == "a"
    assert f"({MOST + 5:,} characters, {text_digest(text)})" in page(hostile_report(text)).all_text


def test_a_log_without_anything_is_a_whole_page_too():
    nothing = Report(
        wanted=Wanted(title="t", url="x", selection="s"),
        log=LogIdentity("empty", (), ()),
        made_by="a",
        spectrace="1",
        begun_at=1,
        ran=Deeds(1),
        never=Deeds(1),
    )
    found = page(nothing)

    assert set(found.ids) >= {"unknown", "violations", "ran", "never", "unreviewed", "open", "records", "proof"}
    assert "Nothing is unknown" in found.all_text
    assert "svg" not in found.elements


def test_ids_are_there_once_and_every_link_leads_to_one():
    found = CALM

    assert len(found.ids) == len(set(found.ids))
    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)


def test_the_page_comes_in_the_order_that_a_reader_needs():
    found = CALM
    order = ["identity", "unknown", "violations", "ran", "never", "unreviewed", "open", "authority", "records", "proof"]

    assert [one for one in found.ids if one in order] == order
