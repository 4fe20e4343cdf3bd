import json
import sys

from spectrace.cli import document


def test_a_document_is_one_json_object_of_ascii(capsys):
    document.write("ls", [{"text": "ünï \u202e \ud800 \x1b"}])
    written = capsys.readouterr().out

    assert written.isascii()
    assert "\x1b" not in written
    assert json.loads(written) == {"schema": "spectrace.ls.v1", "items": [{"text": "ünï \u202e \ud800 \x1b"}]}


def test_what_users_code_prints_is_no_part_of_it(capsys):
    with document.kept_clean():
        sys.stdout.write("from a function of the user's\n")
    document.write("ls", [])
    out, err = capsys.readouterr()

    assert json.loads(out)["items"] == []
    assert err == "from a function of the user's\n"
