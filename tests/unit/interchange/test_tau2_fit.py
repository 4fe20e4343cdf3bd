from tau2_files import AIRLINE, GREETING, HELLO, RETAIL, action, graded, result_file, simulation, task, written

from spectrace.interchange.tau2_file import read_result_file
from spectrace.interchange.tau2_fit import unfit

ANNA, BEN = action("0_0", user_id="anna"), action("1_0", user_id="ben")
TASKS = [task("0", ANNA), task("1", BEN), task("2")]


def reasons(folder, *filed, tasks=TASKS):
    simulations = [
        simulation(GREETING, HELLO, id_=f"sim-{place}", task_id=id_, reward_info=grade)
        for place, (id_, grade) in enumerate(filed)
    ]
    return unfit(read_result_file(written(folder, result_file(*simulations, tasks=tasks))))


def test_an_entry_graded_by_its_own_tasks_actions_fits(tmp_path):
    assert reasons(tmp_path, ("0", graded(ANNA)), ("1", graded(BEN)), ("2", graded())) == [None] * 3


def test_an_entry_graded_by_another_tasks_actions_names_that_task(tmp_path):
    assert reasons(tmp_path, ("0", graded(BEN)), ("1", graded(BEN))) == [
        "its grade was computed from the gold actions of task 1, but it is filed as task 0",
        None,
    ]


def test_an_entry_graded_by_no_action_does_not_fit_a_task_that_has_some(tmp_path):
    assert reasons(tmp_path, ("0", graded())) == [
        "its grade was computed from no gold action, but it is filed as task 0"
    ]


def test_an_entry_graded_by_actions_of_no_task_here_does_not_fit(tmp_path):
    (reason,) = reasons(tmp_path, ("0", graded(action("7_0", user_id="eve"), action("7_1"))))

    assert reason == (
        "its grade was computed from gold actions 7_0 to 7_1, which are no task's here, but it is filed as task 0"
    )


def test_what_a_file_with_misfiled_entries_does_not_show_counts_as_unfit_too(tmp_path):
    unsaid = {"reward": 0.0, "info": {"note": "Simulation terminated prematurely."}}

    found = reasons(tmp_path, ("0", graded(BEN)), ("2", graded()), ("1", unsaid), ("1", graded(BEN)))

    why = "its grade names no gold action, and 1 other entry of the file is filed under a wrong task"
    shown = [f"the file does not show that this is task {id_}: {why}" for id_ in ("2", "1")]
    assert found[1:] == [*shown, None]


def test_a_grade_that_names_no_actions_says_nothing_against_its_task(tmp_path):
    assert reasons(tmp_path, ("0", {"reward": 0.0}), ("unknown", graded(ANNA))) == [None, None]


def test_other_spellings_of_the_same_actions_fit(tmp_path):
    respelled = action("other_id", user_id="anna") | {"requestor": None, "info": "x"}

    assert reasons(tmp_path, ("0", graded(respelled))) == [None]


def test_equal_actions_are_told_apart_by_their_ids(tmp_path):
    twins = [task("0", ANNA), task("1", ANNA | {"action_id": "1_0"})]

    assert reasons(tmp_path, ("0", graded(ANNA | {"action_id": "1_0"})), tasks=twins) == [
        "its grade was computed from the gold actions of task 1, but it is filed as task 0"
    ]


def test_an_entry_of_which_nobody_knows_the_task_is_unfit(tmp_path):
    assert reasons(tmp_path, (..., graded(ANNA)), tasks=[]) == [
        "the file does not show which task this is: the entry names none"
    ]


def test_real_entries_fit():
    assert [unfit(read_result_file(path)) for path in (AIRLINE, RETAIL)] == [[None], [None]]
