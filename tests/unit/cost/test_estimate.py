import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.cost.estimate import Work, call_work, decode, expected_experts, prefill
from spectrace.cost.profiles import ARCHITECTURES

SMALL, LARGE, PLAIN = (ARCHITECTURES[name] for name in ("Qwen3.5-4B", "Qwen3.5-397B-A17B", "SmolLM2-135M"))
COUNTS = st.integers(0, 5000)


@pytest.mark.parametrize(("tokens", "experts"), [(1, 10), (8, 74.7), (64, 367), (256, 508.7)])
def test_tokens_choose_more_and_more_of_the_experts(tokens, experts):
    assert expected_experts(LARGE, tokens) == pytest.approx(experts, rel=1e-3)


@pytest.mark.parametrize(("tokens", "gigabytes"), [(1, 15.1), (8, 112.8), (64, 554), (256, 768)])
def test_the_bytes_of_the_chosen_experts_are_the_published_ones(tokens, gigabytes):
    assert expected_experts(LARGE, tokens) * LARGE.expert_read == pytest.approx(gigabytes * 1e9, rel=2e-3)


def test_a_model_without_experts_chooses_none():
    assert expected_experts(PLAIN, 100) == 0


@pytest.mark.parametrize(("model", "gigabytes"), [(SMALL, 8.41), (LARGE, 32.7)])
def test_a_decode_step_reads_the_active_weights(model, gigabytes):
    read = decode(model, 1, 0).hbm_read_low - model.state

    assert read == pytest.approx(gigabytes * 1e9, rel=2e-3)


def test_a_prefilled_token_of_the_large_model_costs_36_gigaflop_at_the_papers_prompts():
    seeds = 1.03e15 / 28.4e3

    assert seeds == pytest.approx(36.3e9, rel=1e-3)
    assert prefill(LARGE, 1000, 0).flops / 1000 < seeds < prefill(LARGE, 1000, 3000).flops / 1000


def test_a_long_prefill_reads_all_experts_at_most_and_one_tokens_at_least():
    work = prefill(LARGE, 256)
    around = LARGE.dense_read + LARGE.state + 256 * LARGE.kv_per_token

    assert work.hbm_read_low == pytest.approx(around + 10 * LARGE.expert_read)
    assert work.hbm_read_high == pytest.approx(around + 512 * LARGE.expert_read)


def test_a_review_of_256_tokens_reads_as_much_as_24_decode_steps():
    assert prefill(LARGE, 256).hbm_read_high / decode(LARGE, 1, 0).hbm_read_high == pytest.approx(24, abs=0.6)


def test_a_few_tokens_can_choose_only_a_few_experts():
    low, high = prefill(LARGE, 3).hbm_read_low, prefill(LARGE, 3).hbm_read_high

    assert high - low == pytest.approx(20 * LARGE.expert_read)


def test_a_dense_model_has_no_range():
    work = call_work(PLAIN, 900, 100, 50)

    assert work.hbm_read_low == work.hbm_read_high


def test_attention_costs_what_each_token_sees():
    without, behind = prefill(PLAIN, 10, 0).flops, prefill(PLAIN, 10, 1000).flops

    assert behind - without == 4 * 30 * 9 * 64 * 10 * 1000


@pytest.mark.parametrize("model", [SMALL, LARGE, PLAIN])
@given(COUNTS, COUNTS, COUNTS)
def test_a_prompt_read_in_two_parts_costs_the_flops_of_one(model, cached, first, second):
    apart = prefill(model, first, cached) + prefill(model, second, cached + first)

    assert apart.flops == pytest.approx(prefill(model, first + second, cached).flops)


@pytest.mark.parametrize("model", [SMALL, LARGE, PLAIN])
@given(st.integers(2, 500), COUNTS)
def test_writing_a_token_costs_the_flops_of_reading_it_and_more_traffic(model, tokens, context):
    written, read = decode(model, tokens, context), prefill(model, tokens, context)

    assert written.flops == pytest.approx(read.flops)
    assert written.hbm_read_low > read.hbm_read_low


@pytest.mark.parametrize("model", [SMALL, LARGE, PLAIN])
@given(st.integers(1, 3000), st.integers(0, 500), st.data())
def test_a_cached_token_saves_work(model, prompt, output, data):
    cached = data.draw(st.integers(0, prompt - 1))
    more = data.draw(st.integers(cached, prompt - 1))

    assert call_work(model, prompt, more, output).flops <= call_work(model, prompt, cached, output).flops


def test_nothing_read_and_nothing_written_is_no_work():
    assert prefill(LARGE, 0, 100) + decode(LARGE, 0, 100) == Work()
