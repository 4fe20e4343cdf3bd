"""People's labels as a verifier: which review a label is of, and what cannot be meant."""

import asyncio
import dataclasses
import hashlib
import json

import pytest

from spectrace.core.fold import fold
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import reviews_of
from spectrace.core.setup import setup_of
from spectrace.core.verdict_reading import read_verdict
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.labels import LabelJudge
from tests.episodes import recorded_events
from tests.playbook import setup

HEADER = "episode,verdict_seq,segment,decision,accepted,category,reason,by\n"


@pytest.fixture(scope="module")
def requests():
    episode = fold(recorded_events())
    return review_requests(episode.id, setup_of(episode.started), reviews_of(episode))


@pytest.fixture
def judge(tmp_path):
    def of(*rows):
        path = tmp_path / "gold.csv"
        path.write_text(HEADER + "".join(f"{row}\n" for row in rows))
        return LabelJudge(str(path))

    return of


def verdict(judge, request):
    return read_verdict(setup(), asyncio.run(judge.judge(request)), request.drafted)


def test_a_review_is_named_by_its_verdict_or_its_segment_and_its_episode_by_its_beginning(judge, requests):
    first, second, third = requests
    labels = judge(
        f"{first.episode},{first.verdict_seq},,accept,,,,",
        f"{first.episode[:5]},,2,reject,1,unsafe,not asked for,ann",
        f"{first.episode[:9]},{third.verdict_seq},3,,0,,,",
    )

    assert [labels.covers(one) for one in requests] == [True, True, True]
    assert [verdict(labels, one).accepted for one in requests] == [1, 1, 0]
    found = verdict(labels, second)
    assert (found.status, found.category, found.reason) == ("ok", "unsafe", "not asked for")
    assert labels.unused() == ()


def test_a_review_that_nobody_labelled_is_not_covered(judge, requests):
    labels = judge(f"{requests[0].episode},,1,accept,,,,")

    assert [labels.covers(one) for one in requests] == [True, False, False]
    with pytest.raises(ModelFailed, match=r"gold\.csv has no label of episode .*, segment 2"):
        asyncio.run(labels.judge(requests[1]))


def test_whose_label_it_is_is_recorded_with_the_answer_and_with_the_facts(judge, requests):
    episode = requests[0].episode
    labels = judge(f"{episode},,1,accept,,,,bob", f"{episode},,1,accept,,,,ann", f"{episode},,2,accept,,,,")
    answer, nobody = (asyncio.run(labels.judge(one)) for one in requests[:2])
    facts = asyncio.run(labels.facts())

    assert (answer.model, json.loads(answer.server)) == (
        "person:bob, ann",
        {"by": ["bob", "ann"], "file": "gold.csv", "lines": [2, 3]},
    )
    assert (nobody.model, json.loads(nobody.server)["by"]) == (None, [])
    assert (facts.provider, facts.name.endswith("gold.csv")) == ("labels", True)
    said = json.loads(facts.server)
    assert (said["by"], said["labels"], said["file"]) == (["ann", "bob"], 3, "gold.csv")


def test_the_facts_hold_the_digest_of_the_file(judge, requests, tmp_path):
    labels = judge(f"{requests[0].episode},,1,accept,,,,bob")
    digest = hashlib.sha256((tmp_path / "gold.csv").read_bytes()).hexdigest()

    assert json.loads(asyncio.run(labels.facts()).server)["digest"] == f"sha256:{digest}"


def test_labels_of_other_episodes_and_of_no_review_are_said(judge, requests):
    episode = requests[0].episode
    labels = judge(
        "ffffff,,1,accept,,,,", f"{episode},,1,accept,,,,", f"{episode},,9,accept,,,,", "eeeee,,1,accept,,,,"
    )
    for one in requests:
        labels.covers(one)

    assert labels.unused() == (
        "gold.csv has labels of episodes that are not selected: ffffff (line 2), eeeee (line 5).",
        "gold.csv has labels of reviews that are not selected, or are none: lines 4.",
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["{e},,2,reject,2,,,"], r"line 2: segment 2 of \w+ has 2 steps, and decision reject and accepted 2 cannot"),
        (["{e},,2,,5,,,"], "has 2 steps, and accepted 5 cannot be meant of it"),
        (["{e},,2,accept,1,,,"], "decision accept and accepted 1 cannot be meant of it"),
        (["{e},,2,reject,,,,"], r"a reject needs accepted, how many of them stand \(0 to 1\)"),
        (["{e},,2,,2,unsafe,,"], "all of them stand: an accept has no category unsafe"),
        (["{e},,2,accept,,,,ann", "{e},,2,reject,0,,,bob"], "line 3 disagrees with line 2 about segment 2"),
        (["{e},,2,reject,0,unsafe,,", "{e},,2,reject,0,premature,,"], "line 3 disagrees with line 2"),
        (["{e},,2,accept,,,,", "{short},,2,reject,0,,,"], "line 3 disagrees with line 2|line 2 disagrees with line 3"),
        (["{e},{seq},2,accept,,,,"], r"segment 1 of \w+ has verdict_seq \d+, and this label has segment 2"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(judge, requests, rows, words):
    names = {"e": requests[0].episode, "short": requests[0].episode[:4], "seq": requests[0].verdict_seq}
    labels = judge(*(row.format(**names) for row in rows))

    with pytest.raises(UsageError, match=words):
        [labels.covers(one) for one in requests]


def test_a_beginning_of_two_selected_episodes_is_refused(judge, requests):
    twin = dataclasses.replace(requests[0], episode=requests[0].episode[:4] + "zzzz")
    labels = judge(f"{requests[0].episode[:4]},,1,accept,,,,")
    labels.covers(requests[0])

    with pytest.raises(UsageError, match=r"line 2: episode '\w+' is the beginning of \w+ and of \w+: write more"):
        labels.covers(twin)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "wide.csv").write_bytes("épisode".encode("utf-16"))

    with pytest.raises(UsageError, match=r"labels .*wide\.csv cannot be read: it is not UTF-8 text"):
        LabelJudge(str(tmp_path / "wide.csv"))
    with pytest.raises(UsageError, match="No such file"):
        LabelJudge(str(tmp_path / "none.csv"))
