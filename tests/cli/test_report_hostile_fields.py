"""Each hostile text in every text of every event, through `audit report`: a page of texts, and of nothing else."""

import re
from contextlib import closing

import pytest

from spectrace.audit.visible import one_line
from spectrace.store.samples import pending, sample_episode
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.episodes import recorded_events
from tests.hostile_log import TEXTS, record
from tests.report_pages import ATTRIBUTES, ELEMENTS, Page

pytestmark = pytest.mark.slow

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\ud800-\udfff]")
ANSWERS = {0, 1, 3}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_log_full_of_a_hostile_text_is_a_page_of_literal_text(monkeypatch, tmp_path, kind):
    text = TEXTS[kind]
    line = in_a_directory(monkeypatch, tmp_path)
    with closing(open_store("spectrace.db")) as store:
        assert record(store, "0123shop", recorded_events(), text) > 25
        assert record(store, "4567else", pending(sample_episode(1)), text) > 20
    result = line("audit", "report", "-o", "report.html", "--rows", "0")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = Page(html)

    assert result.exit_code in ANSWERS
    assert set(found.elements) <= ELEMENTS
    assert found.attributes <= ATTRIBUTES
    assert {link[:1] for link in found.links} <= {"#"}
    assert not HIDDEN.search(html)
    assert not HIDDEN.search(result.stdout)
    shown = one_line(text)[:40]
    assert shown in found.all_text
