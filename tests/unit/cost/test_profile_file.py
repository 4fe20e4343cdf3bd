import pytest

from spectrace.cost.hardware import balance_point
from spectrace.cost.profile_file import load_profile, read_profile
from spectrace.cost.profiles import PROFILES
from spectrace.errors import UsageError

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


def test_a_shipped_profile_is_found_by_its_name():
    assert load_profile("paper") is PROFILES["paper"]


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
