import json

import pytest

from spectrace.audit.queries import Filters, open_reader
from spectrace.core.events import EpisodeStarted
from spectrace.core.types import Finish, Message
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.store.sql import open_store
from tests.episodes import CANCEL, DONE, READ
from tests.playbook import accept, reject
from tests.shop_log import REQUEST, recorded, reverified


def test_an_episode_is_found_by_a_prefix_of_its_id(reader, episode):
    assert reader.resolve(episode[:6]) == episode
    with pytest.raises(EpisodeNotFound):
        reader.resolve("zzz")


def test_an_event_in_full_has_its_texts_in_place(reader, episode):
    detail = reader.event(episode, 0)
    body = json.loads(detail.body)

    assert (detail.type, body["task"]["request"]) == ("episode.started", REQUEST)
    assert body["instructions"].startswith("You run the order desk")
    assert detail.stored_body is not None
    assert "$blob" in detail.stored_body


def test_the_header_is_the_one_that_the_chain_covers(reader, episode):
    detail = reader.event(episode, 10)
    header = json.loads(detail.stored_header)

    assert header == [episode, 10, "", "verdict.given", 1, detail.at, None, None, "reject", None]
    assert (detail.outcome, len(detail.link), detail.erased) == ("reject", 64, False)


def test_details_are_those_of_each_event(reader, episode):
    assert list(reader.details(episode)) == [reader.event(episode, seq) for seq in range(46)]


@pytest.mark.parametrize("seq", [-1, 46, 10**6])
def test_an_event_that_is_not_there_is_refused_with_the_range(reader, episode, seq):
    with pytest.raises(UsageError, match="events 0 to 45"):
        reader.event(episode, seq)


def test_a_prompt_is_exactly_what_the_model_was_sent(reader, episode):
    asked = reader.prompt(episode, 3)

    assert (asked[0].role, asked[-1]) == ("system", Message("user", REQUEST))


def test_the_prompt_of_an_answer_is_its_questions(reader, episode):
    assert reader.prompt(episode, 4) == reader.prompt(episode, 3)


def test_what_is_no_model_call_has_no_prompt(reader, episode):
    with pytest.raises(UsageError, match="reset"):
        reader.prompt(episode, 1)


def test_why_without_a_number_tells_only_what_was_not_accepted(reader, episode):
    assert [one.segment for one in reader.why(episode)] == [1]


@pytest.mark.parametrize(("seq", "segment"), [(3, 1), (10, 1), (15, 1), (16, 2), (28, 2), (45, 3)])
def test_why_with_a_number_tells_the_review_around_it(reader, episode, seq, segment):
    assert [one.segment for one in reader.why(episode, seq)] == [segment]


def test_why_before_the_first_segment_says_that_there_is_nothing(reader, episode):
    with pytest.raises(UsageError, match="no segment"):
        reader.why(episode, 1)


def test_why_refuses_an_event_that_is_not_there(reader, episode):
    with pytest.raises(UsageError, match="events 0 to 45"):
        reader.why(episode, 46)


def test_rejections_are_counted_by_what_is_asked(store, reader, episode):
    recorded(store, weak=[READ, CANCEL, DONE], strong=[reject(2, READ, category="unsafe"), accept()])

    assert [(one.key, one.n, one.episodes) for one in reader.rejections(("tool",))] == [(("cancel_order",), 2, 2)]
    assert {one.key for one in reader.rejections(("category", "env"))} == {("unsafe", "shop"), ("premature", "shop")}


def test_a_counted_rejection_names_one_to_look_at(reader, episode):
    (one,) = reader.rejections()

    assert one.example == f"{episode}:10"


def test_unusable_reviews_are_a_key_of_their_own(store, reader):
    repair = '{"tool": "get_order", "arguments": {"order_id": "W200"}}'
    recorded(store, weak=[CANCEL, DONE], strong=["x", "y", repair, accept()])

    assert [one.key for one in reader.rejections(("category",))] == [("unusable",)]


def test_a_second_verdict_is_no_second_rejection_unless_it_is_asked_for(store, reader, episode):
    reverified(store, episode, "again", [reject(1, READ), accept(), accept()])

    assert [one.n for one in reader.rejections()] == [1]
    assert [one.n for one in reader.rejections(filters=Filters(protocol=("reverify",)))] == [1]


def test_counting_by_what_is_not_known_names_what_is(reader):
    with pytest.raises(UsageError, match="category, tool, env, cause"):
        reader.rejections(("colour",))


def test_the_ledger_has_what_ran_and_what_never_did(reader, episode):
    ledger = [(deed.tool, deed.outcome, deed.authority, deed.state_changed) for deed in reader.actions()]

    assert ledger == [
        ("cancel_order", "never", None, None),
        ("cancel_order", "ok", "verdict:28", True),
        (None, "ok", "verdict:39", False),
    ]


def test_reads_are_on_the_ledger_only_when_asked_for(reader, episode):
    tools = [deed.tool for deed in reader.actions(Filters(tool=("get_order", "find_customer")), reads=True)]

    assert (tools, list(reader.actions(Filters(tool=("get_order",))))) == (["find_customer", "get_order"], [])


def test_the_ledger_of_one_episode_leaves_the_others_out(store, reader, episode):
    recorded(store)

    assert {deed.episode for deed in reader.actions(episodes={episode})} == {episode}


def test_an_unknown_run_is_refused(reader, episode):
    with pytest.raises(UsageError, match="spectrace runs"):
        reader.runs("nothing")


def test_a_reader_opens_a_database_without_changing_it(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    episode = recorded(store)
    store.close()
    before = path.read_bytes()

    with open_reader(str(path)) as reader:
        first = reader.events(episode)[0].body
        assert isinstance(first, EpisodeStarted)
        with pytest.raises(StoreError, match="read-only"):
            reader.store.create("other", first, 0)

    assert path.read_bytes() == before


def test_an_event_may_be_had_without_its_prompt(reader, episode):
    body = json.loads(reader.event(episode, 3, prompt=False).body)

    assert (body["messages"], body["position"]) == ([], "s1.1")
    assert reader.event(episode, 3, prompt=False).stored_body == reader.event(episode, 3).stored_body


def test_a_part_of_a_prompt_comes_with_the_number_of_all_messages(reader, episode):
    last = max(one.seq for one in reader.timeline(episode) if one.type == "generate.requested")
    whole = reader.prompt(episode, last)
    part = reader.messages(episode, last, slice(-1, None))

    assert (part.total, part.messages) == (len(whole), whole[-1:])


def test_a_timeline_says_of_a_long_text_only_its_beginning(store, reader, episode):
    long = "a long answer " * 1_000
    recorded(store, weak=[Finish(long)], strong=[accept()])
    (other,) = [one.episode for one in reader.episodes() if one.episode != episode]
    told = [one.summary for one in reader.timeline(other) if "a long answer" in one.summary]

    assert all(len(summary) < 2_300 for summary in told)
    assert any("bytes in all, sha256:" in summary for summary in told)
