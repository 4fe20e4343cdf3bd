import asyncio
import sys

import pytest

from spectrace.config import (
    BUILTIN_ENVIRONMENTS,
    Models,
    builtin_environment,
    database_url,
    model_named,
    open_environment,
    open_model,
    open_prompts,
    open_verifier,
    protocol,
    verifier_name,
)
from spectrace.core.baselines import WeakOnly
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.anthropic import AnthropicClient
from spectrace.models.functions import FunctionJudge
from spectrace.models.keys import DEFAULT_KEYS
from spectrace.models.labels import LabelJudge
from spectrace.models.openai import OpenAIClient
from spectrace.models.replicas import Replicas
from spectrace.models.scripted import ScriptedModel
from spectrace.models.sglang import SGLangClient
from spectrace.runs.verifiers import JudgePool, Single
from spectrace.settings import Settings
from tests.shop_log import script

NONE = Settings()


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """A working directory of its own, nothing in the environment, and no import that lasts."""
    for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG", DEFAULT_KEYS["openai"][1], "MY_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("mine"):
            del sys.modules[name]


def test_the_database_is_the_option_else_the_variable_else_the_settings_else_a_default(monkeypatch):
    assert database_url(None, NONE) == "sqlite:///spectrace.db"
    assert database_url(None, Settings(database="from.toml")) == "from.toml"
    monkeypatch.setenv("SPECTRACE_DB", "from_variable.db")
    assert database_url(None, Settings(database="from.toml")) == "from_variable.db"
    assert database_url("given.db", Settings(database="from.toml")) == "given.db"


def test_a_model_is_a_provider_and_a_name(tmp_path):
    model = open_model(script(tmp_path / "a@b.json", []), NONE)

    assert isinstance(model, ScriptedModel)


@pytest.mark.parametrize(
    ("spec", "kind", "name", "url"),
    [
        ("openai:gpt-x", OpenAIClient, "gpt-x", "https://api.openai.com/v1"),
        ("openai:org/name@v2@http://127.0.0.1:9/v1", OpenAIClient, "org/name@v2", "http://127.0.0.1:9/v1"),
        ("anthropic:claude-x", AnthropicClient, "claude-x", "https://api.anthropic.com/v1"),
        ("anthropic:n@http://127.0.0.1:9", AnthropicClient, "n", "http://127.0.0.1:9"),
        ("sglang:Qwen/Qwen3-8B", SGLangClient, "Qwen/Qwen3-8B", "http://127.0.0.1:30000"),
        ("sglang:x@https://host.example", SGLangClient, "x", "https://host.example"),
    ],
)
def test_a_server_may_be_named_beside_the_model(spec, kind, name, url):
    model = open_model(spec, NONE)

    assert (type(model), model.name, model._endpoint.url) == (kind, name, url)


def test_a_model_of_the_settings_has_its_tables_options():
    table = {
        "provider": "openai",
        "name": "n",
        "url": "http://127.0.0.1:9/v1",
        "calls": "native",
        "constrained": False,
        "stream": True,
        "timeout_s": 5,
        "idle_s": 2,
        "parameters": {"max_tokens": 7},
    }
    model = open_model("big", Settings(models={"big": table}))

    assert (model._calls, model._constrained, model._stream) == ("native", False, True)
    assert (model._connection._timeout_s, model._connection._idle_s) == (5, 2)
    assert model._parameters == {"temperature": 0, "max_tokens": 7}


def test_a_key_comes_from_where_the_table_says(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    table = {"provider": "openai", "name": "n", "url": "http://127.0.0.1:9/v1", "key_env": "MY_KEY"}

    assert open_model("big", Settings(models={"big": table}))._endpoint.authorization == "Bearer sk-secret"


def test_the_providers_key_goes_to_no_other_host(monkeypatch):
    monkeypatch.setenv(DEFAULT_KEYS["openai"][1], "sk-secret")

    assert open_model("openai:n@http://127.0.0.1:9/v1", NONE)._endpoint.authorization is None
    assert open_model("openai:n", NONE)._endpoint.authorization == "Bearer sk-secret"


@pytest.mark.parametrize(
    ("spec", "models", "words"),
    [
        ("weka", {"weak": {}}, r"did you mean weak\?"),
        ("weak", {}, "spectrace init"),
        ("opnai:x", {}, r"no provider is named 'opnai' \(did you mean openai\?\)"),
        ("openai:", {}, "has no name"),
        ("m", {"m": {"provider": "openai", "name": "x", "api_key": "sk"}}, "literal key"),
        ("m", {"m": {"provider": "openai", "name": "x", "calls": "xml"}}, "json or native"),
        ("m", {"m": {"name": "x"}}, "no provider is named ''"),
        ("local:x@http://127.0.0.1:9", {}, "local models have no URL"),
        ("scripted:missing.json", {}, "cannot be read"),
        ("local:missing.gguf", {}, "neither"),
        ("m", {"m": {"provider": "labels", "name": "gold.csv"}}, "is a labels verifier and no model"),
        ("openai:x@http://a.example,http://a.example/", {}, r"has the URL http://a\.example twice"),
    ],
)
def test_what_is_no_model_is_refused_with_what_there_is(spec, models, words):
    with pytest.raises(UsageError, match=words):
        open_model(spec, Settings(models=models))


def test_a_model_is_opened_once_and_shared(tmp_path):
    spec = script(tmp_path / "s.json", [])
    models = Models(NONE)

    assert models.open(spec) is models.open(spec)
    asyncio.run(models.close())
    assert models.open(spec) is models.open(spec)


CHECKS = """
def judge(request):
    return True

number = 3
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine_checks.py").write_text(CHECKS)
    (tmp_path / "gold.csv").write_text("episode,segment,decision\ne1,1,accept\n")


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("mine_checks:judge", FunctionJudge),
        ("labels:gold.csv", LabelJudge),
        ("by-hand", LabelJudge),
        ("by-rule", FunctionJudge),
    ],
)
def test_a_verifier_may_be_a_function_or_labels_by_name_or_from_the_settings(spec, kind):
    tables = {
        "by-hand": {"provider": "labels", "name": "gold.csv"},
        "by-rule": {"provider": "function", "name": "mine_checks:judge"},
    }
    pool = open_verifier(spec, Settings(models=tables))

    assert isinstance(pool, JudgePool)
    assert isinstance(pool.judge, kind)


def test_a_verifier_may_be_any_model_with_one_server_or_several(tmp_path):
    one, several = (open_verifier(f"sglang:m@http://a{more}", NONE) for more in ("", ",http://b"))

    assert (type(one), type(one.client("e1"))) == (Single, SGLangClient)
    assert (type(several), several.client("e1").url in {"http://a", "http://b"}) == (Replicas, True)
    assert isinstance(open_verifier(script(tmp_path / "s.json", []), NONE), Single)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("sglang:a@b@http://ann:sesame@host:1,http://other:2", "sglang:a@b"),
        ("labels:gold.csv", "labels:gold.csv"),
        ("mine_checks:judge", "mine_checks:judge"),
        ("by-rule@http", "by-rule@http"),
    ],
)
def test_a_run_says_by_what_it_is_judged_and_not_where_that_is_reached(spec, name):
    assert verifier_name(spec, Settings(models={"by-rule@http": {}})) == name


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nobody", "A verifier may also be labels:FILE or MODULE:ATTRIBUTE"),
        ("opnai:gpt", r"no module opnai in .* or among the packages \(did you mean openai\?\)"),
        ("mine_checks:jugde", r"module mine_checks has no attribute 'jugde' \(did you mean judge\?\)"),
        ("mine_checks:number", "expected a function of a ReviewRequest, found int"),
        ("labels:none.csv", "cannot be read"),
        ("m", "a function is named MODULE:ATTRIBUTE, found 'judge'"),
    ],
)
def test_what_is_no_verifier_is_refused(spec, words):
    with pytest.raises(UsageError, match=words):
        open_verifier(spec, Settings(models={"m": {"provider": "function", "name": "judge"}}))


@pytest.mark.usefixtures("mine")
def test_a_function_is_imported_when_it_is_named_and_not_before():
    settings = Settings(models={"by-rule": {"provider": "function", "name": "mine_checks:judge"}})
    open_verifier("labels:gold.csv", settings)
    assert "mine_checks" not in sys.modules

    open_verifier("by-rule", settings)
    assert "mine_checks" in sys.modules


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("local:weak", ("local", "qwen2.5-coder-0.5b")),
        ("local:folder/mine.gguf", ("local", "mine.gguf")),
        ("openai:gpt@http://127.0.0.1:9", ("openai", "gpt")),
        ("mine", ("sglang", "large")),
        ("nobody", None),
    ],
)
def test_a_model_is_known_by_the_name_that_is_recorded_without_being_opened(spec, named):
    assert model_named(spec, Settings(models={"mine": {"provider": "sglang", "name": "large"}})) == named


def test_our_own_environments_are_fresh_each_time():
    assert builtin_environment("shop") is not builtin_environment("shop")
    assert open_environment("shop").tasks()[0].id == "cancel-own"


@pytest.mark.parametrize("name", ["mine:env", "os:getcwd", "shop:x", "", "tau2:none"])
def test_no_other_name_is_one_of_ours(name):
    assert (builtin_environment(name), name in BUILTIN_ENVIRONMENTS) == (None, False)


MINE = """
from spectrace.environments.functions import FunctionEnvironment, tool

@tool(effect="read")
def look(state: dict[str, str]) -> str:
    return "x"

value = FunctionEnvironment.from_functions("mine", [look], "Look.", reset=dict)
number = 3

def make():
    return value.fresh()
"""


@pytest.mark.parametrize("attribute", ["value", "make"])
def test_a_module_of_the_working_directory_gives_a_fresh_environment(tmp_path, attribute):
    (tmp_path / "mine.py").write_text(MINE)
    first, second = open_environment(f"mine:{attribute}"), open_environment(f"mine:{attribute}")

    assert first is not second
    assert [one.name for one in first.tools()] == ["look"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shpo", r"did you mean shop\?"),
        ("tau2:airlin", r"did you mean tau2:airline\?"),
        ("mine:values", r"no attribute 'values' \(did you mean value\?\)"),
        ("mine:number", "found int"),
        ("nowhere:env", "no module nowhere"),
        ("mine_broken:env", "raised ZeroDivisionError"),
        ("mine_needs:env", "importing it failed"),
    ],
)
def test_what_is_no_environment_is_refused_with_what_there_is(tmp_path, name, words):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "mine_broken.py").write_text("1 / 0\n")
    (tmp_path / "mine_needs.py").write_text("import not_installed_anywhere\n")

    with pytest.raises(UsageError, match=words):
        open_environment(name)


def test_options_are_read_as_their_types():
    options = ["k=4", "fused=false", "hold=writes+replies", "max_unreviewed=3", "max_tokens=none"]

    assert protocol("specagent", options) == SpecAgent(k=4, fused=False, hold="writes+replies", max_unreviewed=3)
    assert protocol("weak-only") == WeakOnly()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("specagnt", [], r"did you mean specagent\?"),
        ("specagent", ["kk=1"], r"no option 'kk' \(did you mean k\?\); it has k, acceptance"),
        ("specagent", ["k"], "KEY=VALUE"),
        ("specagent", ["k=many"], "option k is a whole number, found 'many'"),
        ("specagent", ["max_tokens=many"], "a whole number or none"),
        ("specagent", ["fused=1"], "option fused is true or false"),
        ("specagent", ["hold=all"], "option hold: expected one of"),
        ("weak-only", ["k=3"], "weak-only has no option 'k'"),
    ],
)
def test_what_is_no_option_is_refused_with_what_there_is(name, options, words):
    with pytest.raises(UsageError, match=words):
        protocol(name, options)


def test_prompts_are_recorded_shipped_or_a_file(tmp_path):
    (tmp_path / "p.json").write_text('{"tools_heading": "T"}')

    assert (open_prompts(None), open_prompts("recorded"), open_prompts("current")) == (None, None, Prompts())
    assert open_prompts("p.json") == Prompts(tools_heading="T")


@pytest.mark.parametrize(("text", "words"), [(None, "cannot be read"), (b"\xff", "not UTF-8"), (b"[]", "JSON object")])
def test_a_prompts_file_that_cannot_be_used_is_said(tmp_path, text, words):
    if text is not None:
        (tmp_path / "p.json").write_bytes(text)

    with pytest.raises(UsageError, match=words):
        open_prompts("p.json")


def test_a_script_that_runs_out_says_so(tmp_path):
    model = open_model(script(tmp_path / "s.json", []), NONE)
    from spectrace.core.types import ModelRequest

    with pytest.raises(ModelFailed, match="call 1"):
        asyncio.run(model.generate(ModelRequest(())))
