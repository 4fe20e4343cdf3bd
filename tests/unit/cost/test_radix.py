import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.cost import radix
from spectrace.cost.radix import RadixCache
from spectrace.errors import UsageError

PROMPTS = st.lists(st.lists(st.integers(0, 2), max_size=8), max_size=12)


def common(one, other):
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def test_a_prompt_is_found_as_far_as_an_earlier_one_goes():
    cache = RadixCache()

    assert [cache.prefill([1, 2, 3]), cache.prefill([1, 2, 3, 4, 5]), cache.prefill([1, 2, 9, 9])] == [0, 3, 2]


def test_the_last_token_of_a_prompt_is_always_read():
    cache = RadixCache()
    cache.prefill([1, 2, 3])

    assert cache.prefill([1, 2, 3]) == 2


def test_an_answer_is_stored_but_for_its_last_token():
    cache = RadixCache()
    cache.prefill([1, 2], output=[3, 4, 5])

    assert cache.prefill([1, 2, 3, 4, 5, 6]) == 4


def test_a_hit_is_in_whole_pages():
    cache = RadixCache(page_size=4)
    cache.prefill(range(10))

    assert [cache.match([*range(10), 99]), cache.match([0, 1, 2, 3, 4, 5, 9, 9, 9]), cache.tokens] == [8, 4, 8]


def test_looking_stores_nothing():
    cache = RadixCache()
    cache.match([1, 2, 3])

    assert (cache.match([1, 2, 3]), cache.tokens) == (0, 0)


def test_what_was_used_longest_ago_goes_first():
    cache = RadixCache(capacity_tokens=6)
    cache.prefill([1, 1, 1])
    cache.prefill([2, 2, 2])
    cache.prefill([1, 1, 1, 0])
    cache.prefill([3, 3])

    assert (cache.match([1, 1, 1, 0, 0]), cache.match([2, 2, 2, 0]), cache.match([3, 3, 0]), cache.tokens) == (
        4,
        0,
        2,
        6,
    )


def test_a_shared_beginning_outlives_what_follows_it():
    cache = RadixCache(capacity_tokens=5)
    cache.prefill([1, 1, 1, 2, 2])
    cache.prefill([1, 1, 1, 3, 3])

    assert (cache.match([1, 1, 1, 2, 2, 0]), cache.match([1, 1, 1, 3, 3, 0])) == (3, 5)


def test_a_cache_without_room_finds_nothing():
    cache = RadixCache(capacity_tokens=0)
    cache.prefill([1, 2, 3])

    assert (cache.prefill([1, 2, 3]), cache.tokens) == (0, 0)


def test_a_hybrid_model_goes_on_only_from_where_a_state_was_kept():
    cache = RadixCache(checkpoint_every=0)
    cache.prefill([1, 2, 3], output=[4, 5, 6])

    assert [cache.match(ids) for ids in ([1, 2, 9, 9], [1, 2, 3, 9], [1, 2, 3, 4, 9], [1, 2, 3, 4, 5, 9])] == [
        0,
        3,
        3,
        5,
    ]


def test_a_hybrid_model_may_keep_a_state_at_intervals():
    cache = RadixCache(checkpoint_every=4)
    cache.prefill(range(10))

    assert [cache.match([*range(9), 99]), cache.match([*range(10), 99])] == [8, 10]


def test_a_branch_of_a_hybrid_model_keeps_no_state_where_it_leaves():
    cache = RadixCache(checkpoint_every=0)
    cache.prefill([1, 2, 3, 4])
    cache.prefill([1, 2, 8, 8])

    assert cache.match([1, 2, 7, 7]) == 0


@given(PROMPTS)
def test_without_limits_a_hit_is_the_longest_common_prefix_with_all_before(prompts):
    cache, seen = RadixCache(), []

    for prompt in prompts:
        expected = max((common(prompt, earlier) for earlier in seen), default=0)
        assert cache.prefill(prompt) == min(expected, max(len(prompt) - 1, 0))
        seen.append(prompt)


@given(PROMPTS)
def test_stored_tokens_are_the_nodes_of_the_prompts_tree(prompts):
    cache = RadixCache()
    for prompt in prompts:
        cache.prefill(prompt)

    assert cache.tokens == len({tuple(prompt[:end]) for prompt in prompts for end in range(1, len(prompt) + 1)})


@given(PROMPTS, st.integers(0, 20), st.integers(1, 3))
def test_capacity_is_kept_and_never_helps(prompts, capacity, page):
    small, large = RadixCache(page, capacity), RadixCache(page)

    for prompt in prompts:
        assert small.prefill(prompt) <= large.prefill(prompt)
        assert small.tokens <= capacity


@given(PROMPTS, st.integers(0, 5))
def test_a_hybrid_model_finds_no_more_than_full_attention(prompts, every):
    hybrid, full = RadixCache(checkpoint_every=every), RadixCache()

    for prompt in prompts:
        assert hybrid.prefill(prompt) <= full.prefill(prompt)


@given(PROMPTS)
def test_a_state_after_every_token_is_as_good_as_full_attention(prompts):
    hybrid, full = RadixCache(checkpoint_every=1), RadixCache()

    assert [hybrid.prefill(prompt) for prompt in prompts] == [full.prefill(prompt) for prompt in prompts]


@given(PROMPTS, st.integers(0, 5))
def test_what_was_stored_last_changes_no_hit(prompts, every):
    """Prompts are walked from where the last one is known: the same as from the beginning."""
    one, other = RadixCache(checkpoint_every=every), RadixCache(checkpoint_every=every)

    for prompt in prompts:
        other._path, other._ends = [], []
        assert one.prefill(prompt) == other.prefill(prompt)


def test_a_prompt_that_grows_is_not_walked_from_its_beginning(monkeypatch):
    cache, walked = RadixCache(), []
    monkeypatch.setattr(radix, "_shared", lambda *given, shared=radix._shared: walked.append(1) or shared(*given))
    for length in range(1, 300):
        assert cache.prefill(range(length), [length]) == length - 1

    assert len(walked) < 3 * 300


@pytest.mark.parametrize("wrong", [{"page_size": 0}, {"capacity_tokens": -1}, {"checkpoint_every": -1}])
def test_limits_that_are_none_are_refused(wrong):
    with pytest.raises(UsageError, match="a prefix cache has pages"):
        RadixCache(**wrong)
