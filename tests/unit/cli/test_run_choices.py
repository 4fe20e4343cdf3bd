import json

import pytest

from spectrace.cli.run_choices import choose_protocols, choose_tasks, lacking, named_models, require_scoring, unasked
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.protocols import PROTOCOLS
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Task
from spectrace.environments.shop import open_shop
from spectrace.errors import UsageError
from spectrace.models.anthropic import AnthropicClient
from spectrace.models.openai import OpenAIClient
from spectrace.models.scripted import ScriptedModel
from spectrace.models.sglang import SGLangClient
from spectrace.settings import Settings
from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script


def test_tasks_are_chosen_by_comma_by_repetition_and_all():
    shop = open_shop()

    assert [task.id for task in choose_tasks("shop", shop, ["voucher-late,cancel-own", "cancel-own"])] == [
        "voucher-late",
        "cancel-own",
    ]
    assert len(choose_tasks("shop", shop, ["all"])) == 12


class Oddly:
    """An environment whose tasks have hostile names."""

    def __init__(self, *names):
        self.names = names

    def tasks(self):
        return tuple(Task(name, "x") for name in self.names)


def test_a_task_whose_id_holds_a_comma_can_be_named():
    odd = Oddly("a,b", "a", "c")

    assert [task.id for task in choose_tasks("odd", odd, ["a,b", "c,a"])] == ["a,b", "c", "a"]


def test_hostile_ids_are_listed_on_one_line_and_cut():
    with pytest.raises(UsageError) as refused:
        choose_tasks("odd", Oddly("a\nb", "x" * 300, "\x1b[31m"), ["q\nr"])

    assert r"has no task 'q\nr'; it has a⏎b, x" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 200


def test_the_same_option_twice_alike_is_one():
    assert choose_protocols(["specagent"], ["k=4", "k=4"]) == [SpecAgent(k=4)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["threshold=0.7"], ["-o threshold=0.7 has no effect on specagent without -o verdict=scored."]),
        (
            ["review=every", "unreviewed=revisable"],
            ["-o unreviewed=revisable has no effect on specagent without -o review=held."],
        ),
        (["threshold=0.7", "verdict=scored"], []),
        (["verdict=decoded", "acceptance=exact"], []),
    ],
)
def test_an_option_without_effect_is_named_with_what_it_needs(options, said):
    assert lacking(choose_protocols(["specagent"], options), options) == said


def test_a_model_that_nobody_asks_is_named():
    given = {"weak": "scripted:w", "strong": "scripted:s", "user": None}

    assert unasked([WeakOnly()], given) == ["--strong scripted:s is not asked by weak-only."]
    assert unasked([SpecAgent()], given) == []


SCORED = SpecAgent(verdict="scored")


def scoring(protocol, model, settings=None):
    require_scoring([WeakOnly(), protocol], {"strong": model}, {"strong": "judge"}, settings or Settings())


@pytest.mark.parametrize(
    "model",
    [OpenAIClient("x", "http://127.0.0.1:1"), AnthropicClient("x", "http://127.0.0.1:1"), ScriptedModel(["no"])],
)
def test_a_strong_model_that_gives_no_probabilities_is_refused_with_its_provider_and_the_option(model):
    named = Settings(models={"judge": {"provider": "openai", "name": "x"}})
    with pytest.raises(UsageError, match=r"-o verdict=scored reads .* the strong model judge \(openai:x\) gives none"):
        scoring(SCORED, model, named)


@pytest.mark.parametrize(
    "model",
    [
        SGLangClient("x", "http://127.0.0.1:1"),
        ScriptedModel(lambda request: "{}"),
        ScriptedModel(by_task={"t": ["no", '{"yes": ["-0.1"], "no": ["-3"]}']}),
    ],
)
def test_a_strong_model_that_gives_probabilities_is_not_refused(model):
    scoring(SCORED, model)


@pytest.mark.parametrize("protocol", [SpecAgent(), SpecAgent(verdict="scored", acceptance="exact")])
def test_where_nothing_is_scored_any_model_will_do(protocol):
    scoring(protocol, ScriptedModel(["no"]))


def test_protocols_are_chosen_by_comma_by_repetition_and_all():
    assert choose_protocols(["weak-only, specagent", "weak-only"], []) == [WeakOnly(), SpecAgent()]
    assert [one.NAME for one in choose_protocols(["all"], [])] == list(PROTOCOLS)


def test_an_option_goes_to_the_protocols_that_have_it_and_the_others_are_named():
    chosen = choose_protocols(["specagent,strong-only"], ["k=4", "max_steps=9"])

    assert chosen == [SpecAgent(k=4, max_steps=9), StrongOnly(max_steps=9)]
    assert lacking(chosen, ["k=4", "max_steps=9"]) == ["-o k=4 is no option of strong-only: run without it."]


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["weak-only,strong-only"], ["k=4"], "weak-only has no option 'k'"),
        (["weak-only,specagnt"], [], "did you mean specagent?"),
        ([","], [], "--protocol says who drafts"),
        (["specagent,weak-only"], ["k"], "-o takes KEY=VALUE"),
        (["specagent"], ["k=6", "k=7"], "-o k=6 and -o k=7: one option, two values"),
    ],
)
def test_what_is_no_protocol_or_nobodys_option_is_refused(names, options, words):
    with pytest.raises(UsageError, match=words):
        choose_protocols(names, options)


def test_every_role_of_any_protocol_needs_a_model_and_no_other():
    given = {"weak": "scripted:w", "strong": None, "user": None}

    assert named_models([WeakOnly()], given, Settings()) == {"weak": "scripted:w"}
    with pytest.raises(UsageError, match="strong-only needs a strong model"):
        named_models([WeakOnly(), StrongOnly()], given, Settings())


# -- names that episodes are filed under -------------------------------------------------------------------------------


@pytest.fixture
def pair(line, tmp_path):
    weak, strong = script(tmp_path / "weak.json", WEAK_SCRIPT), script(tmp_path / "strong.json", STRONG_SCRIPT)
    return ["run", "--env", "shop", "--task", "cancel-own", "--weak", weak, "--strong", strong]


SECRET_NAME = "nightly-ghp_" + "a1B2" * 9


@pytest.mark.parametrize("option", ["--project", "--name"])
def test_a_project_or_run_that_holds_a_secret_is_refused_before_a_database_exists(line, pair, option, tmp_path):
    result = line(*pair, option, SECRET_NAME, "--db", "named.db")

    assert (result.exit_code, result.stdout, "ghp_" in result.stderr) == (2, "", False)
    assert "nightly-***" in result.stderr
    assert not (tmp_path / "named.db").exists()


def test_so_is_a_project_of_the_settings(line, pair, tmp_path):
    settings = tmp_path / "spectrace.toml"
    written = settings.read_text() if settings.exists() else ""
    settings.write_text(f'project = "{SECRET_NAME}"\n{written}')
    result = line(*pair)

    assert (result.exit_code, "the project 'nightly-***'" in " ".join(result.stderr.split())) == (2, True)


def test_a_label_that_holds_a_secret_is_redacted_on_both_sides_of_its_sign(line, pair):
    result = line(*pair, "--label", 'password=hunter"2Zq9', "--label", f"{SECRET_NAME[8:]}=vvvv")
    (item,) = line.items("ls")

    assert result.exit_code == 0
    assert "hunter" not in json.dumps(item)
    assert "ghp_" not in json.dumps(item)
    assert sorted(item["labels"].values())[1] == "vvvv"
