import json

import pytest

from spectrace.errors import UsageError
from spectrace.interchange.imported import episode_id
from spectrace.interchange.openai_chat import import_file
from spectrace.store.memory import MemoryEventStore
from tests.chat_files import ASK, DONE, SYSTEM, written
from tests.redaction import PASSWORD, redactor


def test_an_entry_of_a_file_in_a_format_has_one_id_and_no_other_has_it():
    ids = [
        episode_id(*one) for one in (("tau2", "00", "1"), ("tau2", "01", "1"), ("tau2", "00", "2"), ("x", "00", "1"))
    ]

    assert ids[0] == episode_id("tau2", "00", "1")
    assert len(set(ids)) == 4


def test_an_id_of_before_formats_were_several_is_still_the_same():
    assert episode_id("tau2", "sha256:00", "sim-1") == "079b0c1774b0f960"


def test_what_is_imported_is_redacted_before_it_is_written_and_given_back_with_placeholders(tmp_path):
    file = tmp_path / "chat.json"
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "log_in", "arguments": json.dumps({"password": PASSWORD})},
    }
    said = [{"role": "user", "content": "log in"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    said += [
        {"role": "tool", "tool_call_id": "c1", "content": f"welcome, {PASSWORD}"},
        {"role": "assistant", "content": "done"},
    ]
    file.write_text(json.dumps({"messages": said}))
    store = MemoryEventStore()

    (one,) = import_file(file, store, redactor=redactor())

    events = list(store.read(one.episode))
    assert (PASSWORD in repr(events), redactor().placeholder("secret", PASSWORD) in repr(events)) == (False, True)
    assert events[0].body.versions.redactor == redactor().version


SECRET_NAME = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("named", [{"project": SECRET_NAME}, {"run": SECRET_NAME}])
def test_an_entry_is_filed_under_no_name_that_holds_a_secret(tmp_path, named):
    file, store = written(tmp_path / "talk.jsonl", SYSTEM, ASK, DONE), MemoryEventStore()

    with pytest.raises(UsageError, match=r"'\*\*\*'"):
        import_file(file, store, redactor=redactor(), **named)
    assert store._logs == {}


def test_nor_as_a_task_whose_id_holds_one_and_nothing_of_the_file_is_recorded(tmp_path):
    file, store = written(tmp_path / f"{SECRET_NAME}.jsonl", SYSTEM, ASK, DONE), MemoryEventStore()

    with pytest.raises(UsageError, match=r"the task id of entry 1 '\*\*\*'"):
        import_file(file, store, redactor=redactor())
    assert store._logs == {}
