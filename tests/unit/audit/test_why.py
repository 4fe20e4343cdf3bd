from spectrace.audit.answers import WhyStep
from spectrace.audit.why import segment_starts, why_items
from spectrace.core.types import Completion, Message, Observation
from tests.episodes import CANCEL, DONE, FIND, READ
from tests.playbook import accept, reject
from tests.shop_log import REASON, REQUEST, recorded

ANA = Observation("C11 Ana Silva, ana@mail.example, vouchers so far: none")


def test_a_rejection_tells_request_draft_verdict_and_repair(store, episode):
    first, *_ = why_items(list(store.read(episode)))

    assert (first.request, first.segment, first.drafted, first.accepted, first.decision) == (REQUEST, 1, 1, 0, "reject")
    assert (first.category, first.reason, first.repair_kind, first.repair_outcome) == (
        "premature",
        REASON,
        "fused",
        "ok",
    )
    assert [(step.action, step.held, step.fate, step.observation) for step in first.steps] == [
        (CANCEL, True, "discarded", None)
    ]
    assert [(step.action, step.observation) for step in first.repair] == [(FIND, ANA)]


def test_every_review_is_an_item_accepting_ones_too(store, episode):
    items = why_items(list(store.read(episode)))

    assert [(one.segment, one.decision) for one in items] == [(1, "reject"), (2, "accept"), (3, "accept")]


def test_the_event_numbers_lead_to_the_events(store, episode):
    events = list(store.read(episode))
    first, *_ = why_items(events)
    numbers = (first.verdict_seq, first.review_seq, first.repair_seq, first.steps[0].seq, first.repair[0].act_seq)

    assert [events[seq].type for seq in numbers] == [
        "verdict.given",
        "generate.requested",
        "repair.made",
        "step.drafted",
        "act.requested",
    ]


def test_the_drafts_reasoning_stands_beside_its_step(store):
    thinking = Completion(Message("assistant", '{"tool": "cancel_order", "arguments": {"order_id": "W200"}}'), "hm")
    episode = recorded(store, weak=[thinking, READ, CANCEL, DONE])

    assert why_items(list(store.read(episode)))[0].steps[0].reasoning == "hm"


def test_an_unusable_review_is_an_item_of_its_own_class(store):
    weak, strong = (
        [CANCEL, DONE],
        ["gibberish", "again", '{"tool": "get_order", "arguments": {"order_id": "W200"}}', accept()],
    )
    episode = recorded(store, weak=weak, strong=strong)
    first, *_ = why_items(list(store.read(episode)))

    assert (first.decision, first.accepted, first.repair_kind) == ("unusable", 0, "corrective")
    assert first.cause


def test_a_kept_prefix_stands_before_the_rejected_step(store):
    episode = recorded(store, weak=[READ, CANCEL, DONE], strong=[reject(2, FIND), accept()])
    first, *_ = why_items(list(store.read(episode)))

    assert [step.fate for step in first.steps] == ["committed", "discarded"]
    assert isinstance(first.rejected, WhyStep)
    assert first.rejected.action == CANCEL


def test_segments_begin_with_their_first_model_call(store, episode):
    events = list(store.read(episode))
    starts = segment_starts(events)

    assert list(starts) == [1, 2, 3]
    assert {events[seq].type for seq in starts.values()} == {"generate.requested"}


def test_an_episode_without_an_end_is_told_as_far_as_it_goes(store, episode):
    events = list(store.read(episode))[:12]

    assert [(one.segment, one.end_status, one.repair) for one in why_items(events)] == [(1, "running", ())]
