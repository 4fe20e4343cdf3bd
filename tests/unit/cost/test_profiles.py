import pytest

from spectrace.cost.profiles import ARCHITECTURES, HARDWARE, PROFILES, architecture_of
from spectrace.models.catalogue import ENTRIES


def test_the_papers_profile_is_its_pair_on_h20():
    paper = PROFILES["paper"]

    assert [one.architecture.name for one in (paper.weak, paper.strong)] == ["Qwen3.5-4B", "Qwen3.5-397B-A17B"]
    assert paper.deployment("strong").hardware is HARDWARE["H20"]


def test_models_inside_an_environment_have_no_deployment():
    assert PROFILES["paper"].deployment("user") is None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_weights_of_a_local_model_are_as_large_as_its_file(entry):
    model = architecture_of(entry.name)

    assert model.dense_read == pytest.approx(entry.size)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Qwen/Qwen3.5-397B-A17B", "Qwen3.5-397B-A17B"),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "Qwen2.5-Coder-1.5B"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M"),
        ("smollm2", "SmolLM2-135M"),
    ],
)
def test_a_model_is_known_by_the_name_that_it_was_recorded_under(name, expected):
    assert architecture_of(name) is ARCHITECTURES[expected]


@pytest.mark.parametrize("name", ["gpt-4.1", "Qwen/Qwen3.5-397B-A17B-FP8", ""])
def test_a_model_of_another_name_is_not_guessed(name):
    assert architecture_of(name) is None


@pytest.mark.parametrize("one", [*ARCHITECTURES.values(), *HARDWARE.values(), *PROFILES.values()])
def test_everything_says_where_its_figures_are_from(one):
    assert len(one.source) > 10
