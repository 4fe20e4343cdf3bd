"""A role of one project, on a real server: what it is not shown is counted, what is its own is judged."""

import json
from contextlib import closing

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.answers import Filters
from spectrace.audit.checkpoints import create
from spectrace.audit.covering import covering
from spectrace.audit.hidden import hidden, only_project, told_of
from spectrace.audit.integrity import Verifier
from spectrace.audit.leaves import Leaf, strays
from spectrace.audit.proved_log import Proof
from spectrace.audit.queries import open_reader
from spectrace.audit.report import Wanted, report
from spectrace.audit.report_proof import Trust
from spectrace.audit.signing import Signer
from spectrace.audit.standing_leaves import by_episode
from spectrace.audit.unknowns_reading import unknowns_of
from spectrace.runs.live import Labels
from spectrace.store import tables
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.damage import past_the_triggers
from tests.roles import roles_of
from tests.shop_log import recorded
from tests.tampering.forgery import remove

SIGNER = Signer("log", bytes(range(32)))
OURS = Leaf("a", "ours", 1, 2, "completed", 3, 0, "00" * 32)
THEIRS = Leaf("b", "theirs", 1, 2, "completed", 3, 0, "00" * 32)
RECORDS = Leaf("admin-1", "", 1, None, "administrative", 3, 0, "00" * 32)


class Log:
    """Two projects' episodes under one checkpoint, as their owner, and as the reader of one of them, has them."""

    def __init__(self, roles, path):
        self.url, self.role, self.path = roles.url, roles.granted("reader", project="ours"), path
        with closing(open_store(self.url)) as store:
            self.ours, self.second = (recorded(store, labels=Labels(project="ours")) for _ in range(2))
            self.theirs = [recorded(store, labels=Labels(project="theirs")) for _ in range(3)]
            create(store, SIGNER, path)
            self.logs = store.administrative()

    def results(self, url=None):
        with open_reader(url or self.role) as reader:
            proof = Proof(reader.store, checkpoint_files.read(self.path))
            found = proof.whole(map(Verifier(reader.store).verify, proof.names()), url or self.role, 1)
        return {one.episode: one for one in found}

    def proof(self, ask):
        with closing(open_store(self.role)) as store:
            return [(one.episode, one.result) for one in ask(Proof(store, checkpoint_files.read(self.path)))]


@pytest.fixture
def log(postgres_url, tmp_path):
    with roles_of(postgres_url) as roles:
        yield Log(roles, tmp_path / "cp")


def test_only_others_leaves_that_are_not_there_are_hidden_and_from_one_project_alone():
    tree = by_episode([OURS, THEIRS, RECORDS])

    assert hidden(tree, {"c"}, "ours") == {"b": [THEIRS]}
    assert hidden(tree, {"b"}, "ours") == {}
    assert hidden(tree, set(), None) == {}
    assert only_project(MemoryEventStore()) is None


def test_an_episode_that_was_once_of_the_own_project_is_not_hidden():
    assert hidden(by_episode([OURS, Leaf(**{**_fields(THEIRS), "episode": "a"})]), set(), "ours") == {}


def _fields(leaf):
    return {name: getattr(leaf, name) for name in leaf.__slots__}


def test_a_name_of_a_project_is_said_with_its_controls_visible():
    assert "\x1b" not in told_of(1, "\x1b[2J\u202e")
    assert "\u202e" not in told_of(1, "\x1b[2J\u202e")


def test_the_whole_log_is_valid_and_what_is_not_shown_is_counted_once_as_unknown(log):
    found = log.results()

    assert {name: one.result for name, one in found.items()} == {
        **dict.fromkeys([log.ours, log.second, *log.logs], "valid"),
        "(database)": "unknown",
    }
    assert found["(database)"].detail.startswith("3 episodes of other projects that the checkpoint has: not visible")
    assert {one.result for one in log.results(log.url).values()} == {"valid"}


def test_leaves_that_a_later_checkpoint_added_for_others_are_not_called_altered(log, tmp_path):
    with closing(open_store(log.url)) as store:
        recorded(store, labels=Labels(project="theirs"))
        create(store, SIGNER, tmp_path / "later")

    assert "invalid" not in {one.result for one in log.results().values()}


def test_an_own_episode_that_was_removed_is_invalid(log):
    with past_the_triggers(log.url) as connection:
        remove(connection, log.ours)
        connection.commit()
    found = log.results()

    assert (found[log.ours].result, found[log.ours].detail[:7]) == ("invalid", "removed")
    assert found[log.second].result == "valid"
    assert not found.keys() & set(log.theirs)


def test_an_own_episode_whose_row_was_moved_to_another_project_is_invalid(log):
    with closing(open_store(log.url)) as store, store.database.writing(durable=True) as connection:
        episodes = tables.episodes
        connection.execute(episodes.update().where(episodes.c.episode == log.ours).values(project="theirs"))

    assert log.results()[log.ours].result == "invalid"


def test_an_episode_of_others_that_is_named_is_unknown_and_one_that_nobody_has_is_not_said(log):
    assert log.proof(lambda proof: proof.missing(log.theirs[0])) == [(log.theirs[0], "unknown")]
    assert log.proof(lambda proof: proof.missing("0" * 32)) == []


def test_filters_that_others_may_pass_count_them_and_those_of_the_own_project_do_not(log):
    own = [log.ours, log.second]

    assert log.proof(lambda proof: proof.unlisted(own, Filters(since=1))) == [("(database)", "unknown")]
    assert log.proof(lambda proof: proof.unlisted(own, Filters(project=("ours",)))) == []


def test_a_new_checkpoint_does_not_find_them_gone(log):
    with closing(open_store(log.role)) as store, store.database.reading() as connection:
        assert [leaf for leaf, _ in strays(connection, [THEIRS, OURS])] == [OURS]


@pytest.mark.parametrize("named", [True, False])
def test_unknowns_say_once_what_is_not_shown(log, named):
    with closing(open_store(log.role)) as store:
        covered = covering(store, log.path if named else None, SIGNER.key)
        found = [one for one in unknowns_of(store, [log.ours], covered, []) if "not visible" in one.detail]

    assert [(one.episode, one.kind, one.detail[:28]) for one in found] == [
        ("(database)", "uncovered", "3 episodes of other projects")
    ]


def test_unknowns_without_a_checkpoint_say_that_others_are_not_shown(log):
    with closing(open_store(log.role)) as store:
        found = [one.detail for one in unknowns_of(store, [], None, [])]
    with closing(open_store(log.url)) as store:
        owners = [one.detail for one in unknowns_of(store, [], None, [])]

    assert [one for one in found if "'ours'" in one and "nothing is known" in one] == found[1:]
    assert owners == found[:1]


def test_a_report_calls_nothing_of_others_removed(log):
    held = checkpoint_files.read(log.path)
    wanted = Wanted(title="All", url=log.role, selection="all", trust=Trust(log.path, SIGNER.key, (), held))
    with open_reader(log.role) as reader, report(reader, wanted) as made:
        results = {one.episode: one.result for one, _ in made.verified}
        unknowns = [one for one in made.unknowns if "not visible" in one.detail]

    assert results == {**dict.fromkeys([log.ours, log.second, *log.logs], "valid"), "(database)": "unknown"}
    assert len(unknowns) == 1


def test_the_command_answers_3_not_1(log, monkeypatch, tmp_path):
    line = in_a_directory(monkeypatch, tmp_path)
    log.path.with_name("pub").write_text(str(SIGNER.key))
    ask = ("verify", "--all", "--checkpoint", str(log.path), "--key", str(log.path.with_name("pub")), "--json")
    result = line(*ask, "--db", log.role)

    assert result.exit_code == 3
    assert {one["result"] for one in json.loads(result.stdout)["items"]} == {"valid", "unknown"}
