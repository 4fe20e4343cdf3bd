import json

from spectrace.cli import document


def test_a_document_is_one_json_object_of_ascii(capsys):
    document.write("ls", [{"text": "ünï \u202e \ud800 \x1b"}])
    written = capsys.readouterr().out

    assert written.isascii()
    assert "\x1b" not in written
    assert json.loads(written) == {"schema": "spectrace.ls.v1", "items": [{"text": "ünï \u202e \ud800 \x1b"}]}
