import pytest

from spectrace.cost.hardware import balance_point
from spectrace.cost.profiles import ARCHITECTURES, HARDWARE, PROFILES, architecture_of, load_profile, read_profile
from spectrace.errors import UsageError
from spectrace.models.catalogue import ENTRIES

OWN = """
name = "ours"
source = "measured"
weak = {architecture = "Qwen3.5-4B"}
strong = {architecture = "big", hardware = "card"}

[architectures.big]
source = "its config.json"
layers = 2
hidden = 64
heads = 4
kv_heads = 4
head_dim = 16
ffn = 128
vocab = 1000
tied = true
bytes_per_weight = 1

[hardware.card]
source = "its page"
bandwidth = 1e12
flops = {bf16 = 1e14}
"""


def test_the_papers_profile_is_its_pair_on_h20():
    paper = load_profile("paper")

    assert [one.architecture.name for one in (paper.weak, paper.strong)] == ["Qwen3.5-4B", "Qwen3.5-397B-A17B"]
    assert paper.deployment("strong").hardware is HARDWARE["H20"]


def test_models_inside_an_environment_have_no_deployment():
    assert load_profile("paper").deployment("user") is None


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


def test_a_profile_of_ones_own_is_read(tmp_path):
    (tmp_path / "own.toml").write_text(OWN)

    own = load_profile(str(tmp_path / "own.toml"))

    assert (own.name, own.weak.architecture.name, own.weak.hardware) == ("ours", "Qwen3.5-4B", None)
    assert own.strong.architecture.parameters == 2 * (4 * 64 * 64 + 3 * 64 * 128 + 128) + 64 + 64_000
    assert balance_point(own.strong.hardware) == pytest.approx(100)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "ours"', 'nmae = "ours"', "nmae is not known"),
        ('name = "ours"', "", "name must be a text"),
        ('"big", hardware', '"bag", hardware', "strong.architecture must be one of .* found 'bag'"),
        ('hardware = "card"', 'hardware = "cart"', "strong.hardware must be one of .* found 'cart'"),
        ("layers = 2\n", "", "architectures.big: layers must be given"),
        ("layers = 2", "layers = 2.5", "layers is not what it must be .* found 2.5"),
        ("layers = 2", "layers = -2", "layers is not what it must be .* found -2"),
        ("layers = 2", "leyers = 2", "leyers is not known"),
        ("tied = true", "tied = 1", "tied is not what it must be"),
        ("bandwidth = 1e12", "bandwidth = 0", "bandwidth is not what it must be"),
        ("flops = {bf16 = 1e14}", 'flops = {bf16 = "fast"}', "flops is not what it must be"),
        ('weak = {architecture = "Qwen3.5-4B"}', "weak = 3", "weak must be a table"),
        ("[hardware.card]", "[hardware]\ncard = 3\n[oops]", "oops is not known"),
        ("[hardware.card]", "[hardware.card", "is not TOML"),
    ],
)
def test_a_mistake_in_a_profile_is_refused_by_name(old, new, said):
    with pytest.raises(UsageError, match=said):
        read_profile(OWN.replace(old, new), "own.toml")


def test_a_profile_that_is_not_there_is_said_not_to_be():
    with pytest.raises(UsageError, match=r"no profile is named 'papper'; there are paper, local"):
        load_profile("papper")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none.toml cannot be read: No such file"):
        load_profile(str(tmp_path / "none.toml"))
