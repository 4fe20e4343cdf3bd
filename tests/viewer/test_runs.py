"""The list of runs, and the report of a re-verification."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from spectrace.audit.agreement_rows import rows_of
from spectrace.audit.queries import open_reader
from spectrace.audit.reverified import read_reverified
from spectrace.store.sql import open_store
from tests.rejudged import judge_again, record_alone, record_reviews
from tests.viewer.conftest import Draw
from tests.viewer.logs import EVERYTHING, HOSTILE
from tests.viewer.test_episodes import texts
from tests.viewer.test_hostile import OURS, labels

pytestmark = pytest.mark.slow


def judged_log(path):
    """A log with twelve tasks judged again by two runs, and others by one model, judged by a third."""
    store = open_store(str(path))
    episodes = record_reviews(store, 12, run="first")
    judge_again(store, episodes, "night", 0.5, 2, unusable={0})
    judge_again(store, episodes, "day", 0.9, 3, name="third")
    judge_again(store, record_alone(store, 4), "derived", 0.5, 5)
    judge_again(store, episodes[:3], "twice", 0.5, 6, repeats=2)
    judge_again(store, episodes[:2], EVERYTHING, 0.5, 7, name=HOSTILE["image"])
    store.close()


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("judged") / "log.db"
    with ThreadPoolExecutor(1) as executor:  # in this thread a browser's event loop may be running
        executor.submit(judged_log, path).result()
    return path


@pytest.fixture
def judged(original, tmp_path):
    return shutil.copy(original, tmp_path / "log.db")


def tables(page):
    return [one.value for one in page.dataframe]


def test_every_run_is_listed_with_its_kind(draw: Draw, judged):
    listed = tables(draw(judged, runs="all"))[0].set_index("run")

    assert dict(listed["kind"])["night"] == "reverify"
    assert dict(listed["kind"])["first"] == "run"
    assert (listed.loc["night", "reviews"], listed.loc["night", "unusable"]) == (36, 1)


def test_the_counts_say_how_many_judge_again(draw: Draw, judged):
    assert "7 runs  ·  5 of them judge reviews again" in texts(draw(judged, runs="all"))


def test_a_log_without_a_run_says_how_to_name_one(draw: Draw, tmp_path):
    open_store(str(tmp_path / "empty.db")).close()

    assert "No run has a name yet" in texts(draw(tmp_path / "empty.db", runs="all"))


def test_the_way_to_the_runs_and_back(draw: Draw, judged):
    page = draw(judged)
    page.button(key="to-runs").click().run()
    there = page.query_params["runs"]
    page.button(key="home").click().run()

    assert (there, page.query_params) == ("all", {})


def test_a_report_shows_the_figures_that_compare_prints(draw: Draw, judged):
    page = draw(judged, compare="night")
    with open_reader(str(judged)) as reader:
        found = read_reverified(reader, ["night"])
    rows = rows_of(found.figures[0][1])

    statistics = next(one for one in tables(page) if "bounds" in one)
    assert list(statistics["figure"]) == [one.title for one in rows]
    assert list(statistics["value"]) == [one.value or "" for one in rows]
    assert "Run night put 36 reviews from 12 episodes of 12 tasks (changes) to scripted:second" in texts(page)
    assert "Left out: 1 unusable; the bounds count them either way." in texts(page)
    assert len(page.exception) == 0


def test_every_disagreement_is_listed_with_both_verdicts(draw: Draw, judged):
    page = draw(judged, compare="night")
    listed = next(one for one in tables(page) if "segment" in one)

    assert f"Disagreements: {len(listed)}" in texts(page)
    assert all(
        (first == "accept") != (second == "accept")
        for first, second in zip(listed["first"], listed["second"], strict=True)
    )


def test_of_repeats_the_disagreements_are_those_of_the_first_answers(draw: Draw, judged):
    page = draw(judged, compare="twice")
    listed = next((one for one in tables(page) if "segment" in one), ())

    assert f"Disagreements in the first answers, of several to each review: {len(listed)}" in texts(page)


def test_a_figure_has_a_key(draw: Draw, judged):
    assert "A line is a 95 % interval" in texts(draw(judged, compare="night"))
    assert "A hollow mark has no interval" in texts(draw(judged, compare="twice"))


def test_two_runs_stand_side_by_side(draw: Draw, judged):
    page = draw(judged, compare=["night", "day"])

    assert "night and day" in texts(page)
    assert [one for one in texts(page).split("\n") if one == "day against night"]
    assert sum("bounds" in one for one in tables(page)) == 3


def test_another_run_is_set_beside_from_the_page(draw: Draw, judged):
    page = draw(judged, compare="night")
    (chooser,) = page.selectbox
    assert chooser.options[0] == "the record alone"
    chooser.select_index(chooser.options.index("day")).run()
    both = page.query_params["compare"]
    page.selectbox[0].select_index(0).run()

    assert (both, page.query_params["compare"]) == (["night", "day"], "night")


def test_derived_segments_have_their_table_and_no_disagreements(draw: Draw, judged):
    page = draw(judged, compare="derived")
    derived = next(one for one in tables(page) if "held action" in one)

    assert list(derived["held action"])[:1] == ["finish"]
    assert "Disagreements" not in texts(page)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("nope", "No re-verification is named 'nope' here."),
        ("first", "No re-verification is named 'first' here."),
        (["night", "day", "derived"], "must name one or two re-verifications, it names 3"),
        ("", "No re-verification is named '' here."),
    ],
)
def test_a_link_that_leads_nowhere_says_why(draw: Draw, judged, names, said):
    page = draw(judged, compare=names)

    assert said in texts(page)
    assert (len(page.dataframe), len(page.exception)) == (0, 0)


@pytest.mark.parametrize("address", [{"runs": "all"}, {"compare": EVERYTHING}, {"compare": [EVERYTHING, "night"]}])
def test_hostile_names_stay_text(draw: Draw, judged, address):
    page = draw(judged, **address)

    assert len(page.exception) == 0
    assert [text for text in labels(page) if any(part in text for part in OURS)] == []
    shown = texts(page) + "".join(map(str, tables(page)[0].iloc[0]))
    assert HOSTILE["script"] in shown
    assert "\u202e" not in texts(page)


def test_looking_at_runs_never_alters_a_log(draw: Draw, judged):
    before = judged.read_bytes()
    draw(judged, runs="all")
    draw(judged, compare="night")

    assert judged.read_bytes() == before
