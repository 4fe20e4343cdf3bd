import json
import os
import subprocess
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


def test_what_programs_that_users_code_calls_write_is_no_part_of_it(capfd):
    sys.stdout.write("before ")
    with document.kept_clean():
        subprocess.run([sys.executable, "-c", "print('from a program')"], check=True)
        os.write(1, b"from a C library\n")
    sys.stdout.write("and after")
    sys.stdout.flush()
    out, err = capfd.readouterr()

    assert (out, err) == ("before and after", "from a program\nfrom a C library\n")


def test_items_are_written_as_they_come(capsys):
    def items():
        yield {"n": 1}
        assert '"n": 1' in capsys.readouterr().out  # before the second is made
        yield {"n": [2, {"deep": "two\nlines"}]}

    document.write("ls", items())


def test_the_layout_is_that_of_one_dump(capsys):
    for items in ([], [{"n": 1, "of": {"a": []}}, {"n": None}]):
        document.write("ls", items)
        assert capsys.readouterr().out == json.dumps({"schema": "spectrace.ls.v1", "items": items}, indent=2) + "\n"
