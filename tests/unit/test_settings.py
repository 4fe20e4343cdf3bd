import pytest

from spectrace.core.types import Effect
from spectrace.environments.effects import Override
from spectrace.errors import UsageError
from spectrace.settings import TEMPLATE, Settings, load_settings, meant, read_settings


def test_without_a_file_everything_is_a_default(tmp_path):
    assert load_settings({}, tmp_path) == Settings()


def test_the_file_of_the_working_directory_is_read(tmp_path):
    (tmp_path / "spectrace.toml").write_text(
        'database = "x.db"\nproject = "p"\n[models.m]\nprovider = "local"\nname = "n"\n'
    )
    settings = load_settings({}, tmp_path)

    assert (settings.database, settings.project) == ("x.db", "p")
    assert dict(settings.models) == {"m": {"provider": "local", "name": "n"}}


def test_a_variable_names_another_file(tmp_path):
    (tmp_path / "other.toml").write_text('project = "other"\n')

    assert load_settings({"SPECTRACE_CONFIG": str(tmp_path / "other.toml")}, tmp_path).project == "other"


def test_a_file_that_was_named_must_be_there(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings({"SPECTRACE_CONFIG": str(tmp_path / "none.toml")}, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("databse = 'x'", r"databse is not known \(did you mean database\?\)"),
        ("database = 3", "database must be a str, found 3"),
        ("models = 3", "models must be a dict"),
        ("models.m = 3", r"a model is a table \[models.m\]"),
        ("[models.m]\nprovidr = 'x'", r"models.m.providr is not known \(did you mean provider\?\)"),
        ("[models.m]\nconstrained = 'yes'", "constrained must be a bool"),
        ("[models.m]\ntimeout_s = true", "timeout_s must be a number"),
        ("[models.m]\nurl = 3", "models.m.url must be a str or a list of them, found int"),
        ("[models.m]\nurl = []", "models.m.url is an empty list"),
        ("[models.m]\nurl = ['http://a', 3]", r"models\.m\.url\[1\] must be a str, found int"),
        ("[models.m]\nurl = ['http://a', 'http://b', 'http://a']", r"models\.m\.url\[2\] is the same as url\[0\]"),
        ("[models.m", "is not TOML"),
        ("prices = 3", "prices must be a dict"),
        ("[audit]\nrule = []", r"audit.rule is not known \(did you mean rules\?\)"),
        ("[audit]\nrules = 'checks:late'", "audit.rules must be a list, found 'checks:late'"),
        ("[audit]\nrules = ['checks:late', 3]", r'audit\.rules\[1\] must be a str, "module:attribute", found 3'),
        ("[prices.'openai:m']\ninput = 1", r'prices."openai:m": output, since must be given'),
    ],
)
def test_a_mistake_is_refused_by_name(tmp_path, text, words):
    with pytest.raises(UsageError, match=words):
        read_settings(text, tmp_path / "spectrace.toml")


def test_a_settings_file_that_cannot_be_read_is_not_passed_over(tmp_path):
    (tmp_path / "spectrace.toml").mkdir()
    with pytest.raises(UsageError, match=r"spectrace.toml cannot be read: Is a directory"):
        load_settings({}, tmp_path)


def test_a_settings_file_that_points_nowhere_is_not_passed_over(tmp_path):
    (tmp_path / "spectrace.toml").symlink_to("elsewhere.toml")
    with pytest.raises(UsageError, match=r"spectrace.toml cannot be read: No such file"):
        load_settings({}, tmp_path)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("api_key = 'sk-1'", r"models.unused has a literal key \(api_key = ...\)"),
        ("parameters = {api_key = 'sk-1'}", r"models.unused has a literal key \(parameters.api_key = ...\)"),
        ("key_env = 'sk-1'", "models.unused: key_env is the name of an environment variable"),
        ("key_env = ['sk-1']", "models.unused.key_env must be a str, found list"),
        ("key_file = ['sk-1']", "models.unused.key_file must be a str, found list"),
    ],
)
def test_a_key_is_refused_in_a_model_that_nobody_uses_and_not_repeated(tmp_path, line, words):
    with pytest.raises(UsageError, match=words) as raised:
        read_settings(f"[models.unused]\nprovider = 'openai'\nname = 'n'\n{line}\n", tmp_path / "spectrace.toml")

    assert "sk-1" not in str(raised.value)


def test_the_template_is_read_without_complaint(tmp_path):
    settings = read_settings(TEMPLATE, tmp_path / "spectrace.toml")

    assert list(settings.models) == ["weak", "strong"]


def test_the_templates_commented_part_is_right_too(tmp_path):
    commented = TEMPLATE.partition("# A model behind a server.\n")[2]
    text = "".join(row.removeprefix("#").removeprefix(" ") for row in commented.splitlines(keepends=True))
    settings = read_settings(text, tmp_path / "spectrace.toml")

    assert settings.models["big"]["calls"] == "native"


@pytest.mark.parametrize(("name", "words"), [("weka", " (did you mean weak?)"), ("zzz", "")])
def test_the_nearest_name_is_offered_if_it_is_near(name, words):
    assert meant(name, ["weak", "strong"]) == words


def test_a_price_is_read_with_its_day(tmp_path):
    text = '[prices."openai:m"]\ninput = 0.6\noutput = 3.6\nsince = 2026-11-30\nsource = "its page"\n'

    (price,) = read_settings(text, tmp_path / "spectrace.toml").prices["openai:m"]

    assert (str(price.input), str(price.cached), price.since.isoformat(), price.source) == (
        "0.6",
        "0.6",
        "2026-11-30",
        "its page",
    )


def test_the_operators_word_on_effects_is_read_by_environment(tmp_path):
    text = '[effects.shop]\nget_order = "write"\n\n[effects."a:b"]\nsend = { external = true }\n'
    found = read_settings(text, tmp_path / "spectrace.toml").effects

    assert found == {"shop": {"get_order": Override(Effect.WRITE)}, "a:b": {"send": Override(external=True)}}


@pytest.mark.parametrize("text", ['[effects.shop]\nget_order = "destroy"\n', 'effects = { shop = "write" }\n'])
def test_a_word_on_effects_that_is_none_is_refused_with_its_place(tmp_path, text):
    with pytest.raises(UsageError, match=r'spectrace\.toml: .*\[effects\."shop"\]'):
        read_settings(text, tmp_path / "spectrace.toml")
