import asyncio
import json

import pytest

from spectrace.audit.derived import DerivedReview, anchors, cells, derived_reviews, gold_less_other
from spectrace.audit.gold import gold_actions, is_gold
from spectrace.audit.passes import read_pass, reviews
from spectrace.core.reviews import reviews_of
from spectrace.interchange.tau2 import import_file
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.reverify import reverify_episode
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.judgements import Judgement
from tests.judged import ACCEPT, UNUSABLE, reject
from tests.playbook import accept
from tests.playbook import reject as rejected
from tests.rejudged import judge_again, record_alone, record_reviews
from tests.tau2_files import BYE, HELLO, action, calls, corpus, graded, result, result_file, simulation, task, written

CANCEL = ("c1", "cancel_reservation", {"reservation_id": "R1"})
BOOK = ("c2", "book_reservation", {"user_id": "U1"})


def talk(*made, **more):
    """A dialogue in which the agent makes those calls, each answered."""
    messages = [HELLO]
    for one in made:
        messages += [calls(one), result(one[0], "done")]
    return simulation(*messages, BYE, **more)


@pytest.fixture
def imported(store, reader, tmp_path):
    """Import a dialogue of task 0, whose gold action is a cancellation, and judge its writes; return the reviews."""

    def judged(*replies, reward=1.0, gold=None, made=(CANCEL, BOOK)):
        listed = [action("0_0", CANCEL[1], **CANCEL[2])] if gold is None else gold
        entry = talk(*made, reward_info=graded(*listed, reward=reward))
        (one,) = import_file(written(tmp_path, result_file(entry, tasks=[task("0", *listed)])), store)
        verifier = ScriptedModel(replies, name="second")
        asyncio.run(reverify_episode(list(store.read(one.episode)), verifier, store, "again"))
        return derived_reviews(reader, reviews(reader, read_pass(reader, "again")))

    return judged


def told(found):
    return [(one.held, one.grade, one.judged.kind) for one in found]


def test_a_held_write_is_gold_where_the_task_lists_it(imported):
    assert told(imported(accept(), rejected(1))) == [("gold", "passed", "accept"), ("other", "passed", "reject")]


def test_the_reward_says_which_episodes_failed(imported):
    assert told(imported(accept(), accept(), reward=0.0)) == [
        ("gold", "failed", "accept"),
        ("other", "failed", "accept"),
    ]


def test_a_task_that_expects_no_action_has_no_gold_write(imported):
    assert told(imported(accept(), accept(), gold=[])) == [("other", "passed", "accept")] * 2


def test_the_anchors_of_answers_stand_by_episode_and_segment(imported, reader):
    imported(accept(), rejected(1), reward=0.0)
    found = read_pass(reader, "again")

    assert [anchors(reader, found.answers)[one.episode, one.segment] for one in found.answers] == [
        ("gold", "failed"),
        ("other", "failed"),
    ]


def test_reviews_that_were_recorded_have_no_anchors(store, reader):
    judge_again(store, record_reviews(store, 2), "again")

    assert anchors(reader, read_pass(reader, "again").answers) == {}


def test_elsewhere_writes_are_told_by_reward_alone(store, reader):
    judge_again(store, record_alone(store, 2), "again")
    found = derived_reviews(reader, reviews(reader, read_pass(reader, "again")))

    assert {(one.held, one.grade) for one in found} == {
        (held, grade) for held in ("unknown", "finish") for grade in ("passed", "failed")
    }


def test_the_reward_from_which_on_an_episode_passes_is_chosen(store, reader):
    judge_again(store, record_alone(store, 2), "again")
    found = derived_reviews(reader, reviews(reader, read_pass(reader, "again")), passing=0.0)

    assert {one.grade for one in found} == {"passed"}


def one(judged, held="gold", grade="passed", task="t", number=1):
    return DerivedReview(task, task, number, held, grade, judged)


def test_cells_stand_row_by_row_with_all_at_the_end():
    found = cells([one(ACCEPT), one(ACCEPT, "other", "failed", number=2)])

    assert [(cell.held, cell.grade, cell.n) for cell in found] == [
        ("gold", "passed", 1),
        ("gold", "failed", 0),
        ("gold", None, 1),
        ("other", "passed", 0),
        ("other", "failed", 1),
        ("other", None, 1),
        (None, "passed", 1),
        (None, "failed", 1),
        (None, None, 2),
    ]


def test_a_cell_has_its_share_of_what_was_judged_and_counts_the_rest():
    verdicts = [ACCEPT, ACCEPT, reject(category="unsafe"), UNUSABLE, Judgement("too_long")]
    (cell,) = cells([one(judged, task=str(n)) for n, judged in enumerate(verdicts)])

    assert (cell.n, cell.accepted.value, cell.accepted.n) == (5, pytest.approx(2 / 3), 3)
    assert (cell.rejected, cell.left_out) == ({"unsafe": 1}, {"too_long": 1, "unusable": 1})


def test_an_interval_takes_the_task_as_its_cluster_and_none_stands_under_ten():
    few, many = (
        cells([one(ACCEPT if n % 2 else reject(), task=str(n // 2), number=n) for n in range(2 * tasks)])[0].accepted
        for tasks in (9, 10)
    )

    assert (few.low, few.clusters) == (None, 9)
    assert (many.low is not None, many.clusters, many.n) == (True, 10, 20)


def test_a_review_that_was_asked_several_times_counts_once():
    (cell,) = cells([one(ACCEPT), one(ACCEPT), one(reject()), one(reject(), number=2)])

    assert (cell.n, cell.accepted.n, cell.accepted.value) == (2, 2, pytest.approx(1 / 3))


def test_a_cell_of_which_nothing_was_judged_says_so():
    (cell,) = cells([one(UNUSABLE)])

    assert (cell.accepted.value, cell.accepted.method) == (None, "none: no review that was judged")


def test_gold_writes_are_held_against_others_of_the_same_tasks():
    found = gold_less_other(
        [one(ACCEPT, task=str(n)) for n in range(12)]
        + [one(ACCEPT if n % 2 else reject(), "other", task=str(n), number=2) for n in range(10)],
        TaskBootstrap(200),
    )

    assert (found.value, found.clusters) == (0.5, 10)
    assert found.low < 0.5 < found.high


def test_the_data_of_a_task_is_read_and_never_run(imported):
    text = json.dumps({"__class__": "os.system"})

    assert told(imported(accept(), made=(("c1", "cancel_reservation", json.loads(text)),))) == [
        ("other", "passed", "accept")
    ]


@pytest.mark.slow
def test_what_is_gold_is_what_the_benchmark_itself_matched(store, reader):
    """The filed grades of real runs say which gold actions were done; those that write are held in some segment."""
    done = held = 0
    for path in corpus("airline__b4e983fc", "airline__45651a42"):
        filed = json.loads(path.read_text(encoding="utf-8"))["simulations"]
        for entry, one in zip(filed, import_file(path, store), strict=True):
            checks = (entry["reward_info"] or {}).get("action_checks")
            if checks is None:
                continue  # it was not graded, or has nothing to check
            episode = reader.episode(one.episode)
            actions = [review.steps[-1].action for review in reviews_of(episode)]
            gold, tools = gold_actions(episode.started), {one.tool for one in actions}
            matched = {check["action"]["name"] for check in checks if check["action_match"]} & tools
            found = {one.tool for one in actions if is_gold(one, gold)}

            assert found == matched
            done, held = done + len(matched), held + len(actions)

    assert (done > 30, held > 100) == (True, True)
