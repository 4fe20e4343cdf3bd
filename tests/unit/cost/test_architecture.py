import pytest

from spectrace.cost.profiles import ARCHITECTURES

SMALL, LARGE = ARCHITECTURES["Qwen3.5-4B"], ARCHITECTURES["Qwen3.5-397B-A17B"]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Qwen3.5-4B", 4.206e9),
        ("Qwen3.5-397B-A17B", 396.3e9),
        ("Qwen2.5-Coder-0.5B", 0.494e9),
        ("Qwen2.5-Coder-1.5B", 1.543e9),
        ("SmolLM2-135M", 134.5e6),
    ],
)
def test_the_parameters_add_up_to_the_published_total(name, parameters):
    assert ARCHITECTURES[name].parameters == pytest.approx(parameters, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("Qwen2.5-Coder-0.5B", 494_032_768), ("Qwen2.5-Coder-1.5B", 1_543_714_304), ("SmolLM2-135M", 134_515_008)],
)
def test_the_parameters_of_a_plain_decoder_are_exact(name, parameters):
    assert ARCHITECTURES[name].parameters == parameters


def test_the_body_and_the_embedding_of_the_4b_are_the_published_ones():
    assert (SMALL.dense, SMALL.embedding) == (pytest.approx(3.57e9, rel=1e-3), pytest.approx(0.636e9, rel=1e-3))


def test_a_token_passes_17_billion_weights_of_the_large_one():
    assert LARGE.active == pytest.approx(17.35e9, rel=1e-3)


def test_without_the_input_embedding_16_billion_are_active():
    assert LARGE.active - LARGE.embedding == pytest.approx(16.33e9, rel=1e-3)


def test_only_layers_with_full_attention_leave_keys_and_values():
    assert (SMALL.kv_per_token, LARGE.kv_per_token) == (32_768, 30_720)


def test_a_state_is_as_large_however_long_the_sequence():
    assert (SMALL.state, LARGE.state) == (pytest.approx(50.3e6, rel=1e-3), pytest.approx(188.7e6, rel=1e-3))


def test_all_weights_of_a_tied_model_are_read():
    assert SMALL.dense_read == pytest.approx(8.41e9, rel=2e-3)


def test_a_plain_decoder_has_no_experts_and_no_state():
    plain = ARCHITECTURES["SmolLM2-135M"]

    assert (plain.expert, plain.state, plain.active) == (0, 0, plain.parameters)
