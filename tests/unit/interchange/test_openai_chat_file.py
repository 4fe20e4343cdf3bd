import json

import pytest

from spectrace.errors import UsageError
from spectrace.interchange.openai_chat_file import ARRAY, LINES, OBJECT, read_chat_file
from tests.chat_files import ASK, DONE, SYSTEM

ONE, TWO = json.dumps(ASK), json.dumps(DONE)


def read(tmp_path, text: str | bytes):
    path = tmp_path / "talk.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_chat_file(path)


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (f"{ONE}\n{TWO}\n", LINES),
        (f"\ufeff{ONE}\r\n\r\n{TWO}", LINES),
        (ONE, LINES),
        (f"[{ONE}, {TWO}]", ARRAY),
        (json.dumps([ASK, DONE], indent=2), ARRAY),
        (f'{{"model": "m", "messages": [{ONE}]}}', OBJECT),
        (json.dumps({"messages": [ASK]}, indent=2), OBJECT),
    ],
)
def test_each_layout_is_recognised(tmp_path, text, layout):
    (dialogue,) = read(tmp_path, text).dialogues

    assert (dialogue.entry, dialogue.layout) == ("talk", layout)
    assert json.loads(dialogue.messages[0]) == ASK


def test_a_file_of_objects_is_several_dialogues_each_with_what_lies_beside_its_messages(tmp_path):
    lines = [json.dumps({"messages": [SYSTEM, ASK], "weight": 1.0}), json.dumps({"messages": [ASK, DONE]})]
    found = read(tmp_path, "\n".join(lines)).dialogues

    assert [(one.entry, one.layout, one.beside, len(one.messages)) for one in found] == [
        ("talk#1", OBJECT, {"weight": "1.0"}, 2),
        ("talk#2", OBJECT, {}, 2),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        (" \n\n", "an empty file"),
        ("[]", "no message in it"),
        ('{"messages": []}', "no message in it"),
        ('{"simulations": []}', "an object with 'simulations'"),
        ("3", "JSON that is no object"),
        (f"{ONE}\n3", "JSON that is no object"),
        (f"[{ONE}, 3]", r"a message without a `role` \(number 2\)"),
        (f'{ONE}\n{{"content": "x"}}', r"a message without a `role` \(number 2\)"),
        ('[{"role": 3}]', r"a message without a `role` \(number 1\)"),
        (f"{ONE}\n{{", "text that is not such JSON"),
        ("hello", "text that is not such JSON"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_another_file_is_refused_saying_what_was_found(tmp_path, text, found):
    with pytest.raises(
        UsageError, match=rf"^talk\.json: expected chat messages in OpenAI's format: .*; found .*{found}"
    ):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{ONE}\n\n{{nope\n{TWO}", "line 3, column 2: Expecting property name"),
        (f'{ONE}\n{{"role": "x\\q"}}', "line 2, column 12: Invalid"),
        ('\n{\n  "messages": [\n    nope\n  ]\n}', "line 4, column 5: Expecting value"),
        ("hello", "line 1, column 1: Expecting value"),
        (f"{ONE}\n\n3", "JSON that is no object .line 3"),
    ],
)
def test_what_is_no_json_is_found_by_the_line_and_column_of_the_file(tmp_path, text, where):
    with pytest.raises(UsageError, match=where):
        read(tmp_path, text)


@pytest.mark.parametrize(("data", "said"), [(ONE.encode("utf-16"), "UTF-16"), (b'{"a": "\xff"}', "byte 7 is 0xff")])
def test_other_encodings_are_named(tmp_path, data, said):
    with pytest.raises(UsageError, match=said):
        read(tmp_path, data)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.json: cannot be read"):
        read_chat_file(tmp_path / "none.json")
