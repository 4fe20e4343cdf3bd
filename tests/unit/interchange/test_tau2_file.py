import json

import pytest
from tau2_files import AIRLINE, GREETING, HELLO, result_file, simulation, task, written

from spectrace.errors import UsageError
from spectrace.interchange.tau2_file import read_result_file


def test_a_real_file_is_recognised_and_is_taken_apart():
    file = read_result_file(AIRLINE)

    assert (file.name, file.domain, list(file.tasks)) == (AIRLINE.name, "airline", ["0"])
    assert json.loads(file.tasks["0"]) == json.loads(AIRLINE.read_text())["tasks"][0]
    assert [(one.entry, one.task, one.names_task) for one in file.simulations] == [
        ("0e32d252-7a06-4893-b390-b048a0ec32ff", "0", True)
    ]


def test_a_byte_order_mark_loses_nothing(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + AIRLINE.read_bytes().replace(b"\n", b"\r\n"))

    assert read_result_file(path).simulations[0].entry == "0e32d252-7a06-4893-b390-b048a0ec32ff"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "found an empty file"),
        (b" \n", "found an empty file"),
        (b"[]", "found JSON that is no object"),
        (b"{}", "found an object with no members"),
        (b'{"role": "user"}\n{"role": "user"}', "not such JSON"),
        (b'{"simulations": [], "info": {}}', "found an object with 'simulations', 'info'"),
        (b'{"info": {"environment_info": {"domain_name": "airline"}}, "simulations": []}', "no simulation in it"),
        (b'{"info": {"environment_info": {"domain_name": "a"}}, "simulations": [{"id": 1}]}', "simulation 0 without"),
        (b'{"info": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"info": 1', "not such JSON"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "git-lfs pointer.*git lfs pull"),
        ("{}".encode("utf-16"), "UTF-16 text"),
        (b'{"a": "\xff"}', "not UTF-8 text: byte 7 is 0xff"),
    ],
)
def test_another_file_is_refused_by_what_it_is(tmp_path, data, found):
    path = tmp_path / "other.json"
    path.write_bytes(data)

    with pytest.raises(UsageError, match=f"(?s)^other.json.*{found}"):
        read_result_file(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.json: cannot be read \(No such file or directory\)"):
        read_result_file(tmp_path / "gone.json")


def test_an_entry_without_a_task_takes_the_one_at_its_place(tmp_path):
    file = result_file(
        simulation(GREETING, HELLO, task_id=..., id_="a"),
        simulation(GREETING, HELLO, task_id=4, id_="a"),
        tasks=[task("3"), task("4")],
    )

    simulations = read_result_file(written(tmp_path, file)).simulations

    assert [(one.entry, one.task, one.names_task) for one in simulations] == [("a", "3", False), ("a#2", "4", True)]


def test_an_entry_without_a_task_has_none_where_the_lists_differ_in_length(tmp_path):
    file = result_file(simulation(GREETING, HELLO, task_id=..., id_=None), tasks=[])

    (one,) = read_result_file(written(tmp_path, json.dumps(file))).simulations

    assert (one.entry, one.task, one.names_task) == ("#0", None, False)
