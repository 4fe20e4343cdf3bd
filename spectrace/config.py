"""The only wiring: names on a command line or in spectrace.toml -> databases, models, environments, protocols.

Adapters with optional SDKs are imported when they are asked for. What a recording names is never opened here by itself:
`builtin_environment` knows our own few, and `open_environment` is for what the user typed.
"""

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, cast, get_args, get_origin

from spectrace.core.options import types_of
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import PROTOCOLS
from spectrace.environments.effects import overridden
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.models.judge import Judge
from spectrace.models.replicas import Replicas
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.verifiers import JudgePool, Pool, Single
from spectrace.settings import DEFAULT_DATABASE, Settings, load_settings, meant

Progress = Callable[[int, int, str], None]
"""Told of weights being fetched: bytes done, bytes in all, what is going on."""

Notice = Callable[[str], None]
"""Told, in a sentence, what the user should know while a model is used: a replica that is down."""

_SPEC = re.compile(r"(?P<provider>[a-z][a-z0-9_-]*):(?P<name>.*?)(?:@(?P<url>https?://.*))?", re.DOTALL)
_NEXT_URL = re.compile(r",(?=https?://)")
_FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<attribute>[^\W\d]\w*)")
PROVIDERS = ("anthropic", "local", "openai", "scripted", "sglang")
JUDGES = ("function", "labels")
"""Providers of verdicts on recorded reviews that are no models: for `reverify` alone."""
_Calls = Literal["json", "native"]


def settings_here() -> Settings:
    """Read the settings of this process: its environment variables and working directory."""
    return load_settings(os.environ, Path.cwd())


def database_url(given: str | None, settings: Settings | None = None) -> str:
    """Return the database: --db, else SPECTRACE_DB, else spectrace.toml, else a file in the working directory."""
    if given:
        return given
    from_environment = os.environ.get("SPECTRACE_DB")
    return from_environment or (settings or settings_here()).database or DEFAULT_DATABASE


# -- models ------------------------------------------------------------------------------------------------------------


def open_model(
    spec: str, settings: Settings | None = None, *, progress: Progress | None = None, notice: Notice | None = None
) -> ModelClient:
    """Open `provider:name[@url[,url]]`, or a name of spectrace.toml. Nothing is contacted, fetched or started yet."""
    settings = settings or settings_here()
    if spec in settings.models:
        return _from_table(spec, settings.models[spec], progress, notice)
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise UsageError(_no_such_model(spec, settings))
    table: dict[str, object] = {"provider": match["provider"], "name": match["name"]}
    if match["url"]:
        urls = _NEXT_URL.split(match["url"])
        table["url"] = urls if len(urls) > 1 else urls[0]
    return _from_table(spec if len(_urls(table)) <= 1 else spec.partition("@http")[0], table, progress, notice)


def model_named(spec: str, settings: Settings | None = None) -> tuple[str, str] | None:
    """Return the provider and the name that a model would be recorded with, having opened nothing; None for no model.

    A script's is its file: what it calls itself stands inside.
    """
    from spectrace.models.catalogue import find  # noqa: PLC0415 - as the adapters below

    settings, match = settings or settings_here(), _SPEC.fullmatch(spec)
    if spec in settings.models:
        table = settings.models[spec]
        provider, name = str(table.get("provider", "")), str(table.get("name", ""))
    elif match is not None:
        provider, name = match["provider"], match["name"]
    else:
        return None
    if provider == "local":
        name = entry.name if (entry := find(name)) is not None else Path(name).name
    return provider, name


def _no_such_model(spec: str, settings: Settings) -> str:
    where = settings.path or "there is no spectrace.toml here (`spectrace init` writes one)"
    named = ", ".join(settings.models)
    there = f"{where} names {named}" if named else f"{where}" + (" names none" if settings.path else "")
    return (
        f"no model is named {spec!r}{meant(spec, settings.models)}: {there}. A model is one of those names or "
        "PROVIDER:NAME[@URL], for example local:weak, sglang:NAME@http://127.0.0.1:30000 or scripted:FILE; "
        f"the providers are {', '.join(PROVIDERS)}."
    )


def _from_table(
    label: str, table: Mapping[str, object], progress: Progress | None, notice: Notice | None
) -> ModelClient:
    provider, name = str(table.get("provider", "")), str(table.get("name", ""))
    if provider in JUDGES:
        raise UsageError(f"{label!r} is a {provider} verifier and no model: name it with `reverify --verifier`.")
    if provider not in PROVIDERS:
        raise UsageError(
            f"model {label!r}: no provider is named {provider!r}{meant(provider, PROVIDERS)}; "
            f"there are {', '.join(PROVIDERS)}."
        )
    if not name:
        raise UsageError(f"model {label!r} has no name: a model is {provider}:NAME.")
    if provider in {"local", "scripted"} and "url" in table:
        raise UsageError(f"model {label!r}: {provider} models have no URL.")
    match provider:
        case "scripted":
            return _scripted(name)
        case "local":
            return _local(name, table, progress)
        case _:
            urls = _urls(table)
            if len(urls) > 1:
                return _replicas(label, provider, name, table, urls, notice)
            return _server(label, provider, name, {**table, "url": urls[0]} if urls else table)


def _urls(table: Mapping[str, object]) -> list[str]:
    given = table.get("url")
    return [str(url) for url in given] if isinstance(given, list) else [str(given)] if given else []


def _replicas(  # noqa: PLR0913 - a table, taken apart
    label: str, provider: str, name: str, table: Mapping[str, object], urls: Sequence[str], notice: Notice | None
) -> ModelClient:
    from spectrace.models.keys import endpoint  # noqa: PLC0415 - adapters load when they are asked for

    clients: dict[str, ModelClient] = {}
    for url in urls:
        place = endpoint(url).url
        if place in clients:
            raise UsageError(f"model {label!r} has the URL {place} twice: a replica is a server of its own.")
        clients[place] = _server(label, provider, name, {**table, "url": url})
    return Replicas(label, clients, notice)


def _scripted(name: str) -> ModelClient:
    from spectrace.models.script_file import read_script  # noqa: PLC0415 - adapters load when they are asked for

    return read_script(name)


def _local(name: str, table: Mapping[str, object], progress: Progress | None) -> ModelClient:
    from spectrace.models.local import LocalClient  # noqa: PLC0415 - as above

    options = _options(table, ("n_ctx", "constrained", "stream", "timeout_s", "idle_s", "parameters"))
    if progress is not None:
        options["progress"] = progress
    return LocalClient(name, calls=_calls(name, table), **options)


def _server(label: str, provider: str, name: str, table: Mapping[str, object]) -> ModelClient:
    from spectrace.models.anthropic import AnthropicClient  # noqa: PLC0415 - as above
    from spectrace.models.keys import key_for  # noqa: PLC0415 - as above
    from spectrace.models.openai import OpenAIClient  # noqa: PLC0415 - as above
    from spectrace.models.sglang import SGLangClient  # noqa: PLC0415 - as above

    clients: dict[str, type[AnthropicClient | OpenAIClient]] = {"anthropic": AnthropicClient, "sglang": SGLangClient}
    client = clients.get(provider, OpenAIClient)
    url = str(table.get("url") or client.default_url)
    key = key_for(label, provider, url, table, os.environ)
    options = _options(table, ("constrained", "stream", "timeout_s", "idle_s", "parameters"))
    return client(name, url, api_key=key, calls=_calls(label, table), provider=provider, **options)


def _options(table: Mapping[str, object], names: Sequence[str]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


def _calls(label: str, table: Mapping[str, object]) -> _Calls:
    match table.get("calls", "json"):
        case "json":
            return "json"
        case "native":
            return "native"
        case other:
            raise UsageError(f"model {label!r}: calls is json or native, found {other!r}.")


class Models:
    """The models of one process: each is opened once and shared by the roles and episodes that name it."""

    def __init__(self, settings: Settings, progress: Progress | None = None, notice: Notice | None = None) -> None:
        """Open nothing yet."""
        self._settings = settings
        self._progress = progress
        self._notice = notice
        self._open: dict[str, ModelClient] = {}

    def open(self, spec: str) -> ModelClient:
        """Return the model of that name."""
        if spec not in self._open:
            self._open[spec] = open_model(spec, self._settings, progress=self._progress, notice=self._notice)
        return self._open[spec]

    async def close(self) -> None:
        """Close every model that was opened."""
        while self._open:
            _, client = self._open.popitem()
            await client.close()


# -- verifiers ---------------------------------------------------------------------------------------------------------


def open_verifier(
    spec: str, settings: Settings | None = None, notice: Notice | None = None, *, progress: Progress | None = None
) -> Pool:
    """Open a verifier that the user named: a model, `labels:FILE`, or a function `module:attribute`, which is imported.

    A table of spectrace.toml may say `provider = "labels"` or `"function"`, and the file or function as its name.
    """
    settings = settings or settings_here()
    table = settings.models.get(spec, {})
    provider, _, name = spec.partition(":")
    if spec in settings.models:
        provider, name = str(table.get("provider", "")), str(table.get("name", ""))
    if provider == "labels":
        from spectrace.models.labels import LabelJudge  # noqa: PLC0415 - adapters load when they are asked for

        return JudgePool(LabelJudge(name))
    if provider == "function":
        return JudgePool(_function(spec, name))
    function = _FUNCTION.fullmatch(spec) is not None
    if spec not in settings.models and provider not in PROVIDERS and not function:
        raise UsageError(f"{_no_such_model(spec, settings)} A verifier may also be labels:FILE or MODULE:ATTRIBUTE.")
    if spec in settings.models or provider in PROVIDERS:
        model = open_model(spec, settings, progress=progress, notice=notice)
        return model if isinstance(model, Replicas) else Single(model)
    return JudgePool(_function(spec, spec))


def verifier_name(spec: str, settings: Settings | None = None) -> str:
    """Return what a run is said to be judged by: where servers are reached is left out, and with it any credentials."""
    settings = settings or settings_here()
    return spec if spec in settings.models else spec.partition("@http")[0]


def function_verifier(function: object) -> Pool:
    """Return a function of a program's own as a verifier, called by where it is defined."""
    from spectrace.models.functions import FunctionJudge  # noqa: PLC0415 - adapters load when they are asked for

    inner = function if hasattr(function, "__qualname__") else type(function)
    return JudgePool(FunctionJudge(f"{inner.__module__}:{getattr(inner, '__qualname__', '')}", function))


def _function(label: str, name: str) -> Judge:
    from spectrace.models.functions import FunctionJudge  # noqa: PLC0415 - as above

    match = _FUNCTION.fullmatch(name)
    if match is None:
        raise UsageError(f"verifier {label!r}: a function is named MODULE:ATTRIBUTE, found {name!r}.")
    return FunctionJudge(name, imported("verifier", match["module"], match["attribute"], (*PROVIDERS, "labels")))


# -- environments ------------------------------------------------------------------------------------------------------


def _open_shop() -> Environment:
    from spectrace.environments.shop import open_shop  # noqa: PLC0415 - adapters load when they are asked for

    return open_shop()


def _open_tau2(domain: str) -> Environment:
    from spectrace.environments.tau2 import open_tau2  # noqa: PLC0415 - as above

    return open_tau2(domain)


BUILTIN_ENVIRONMENTS: Mapping[str, Callable[[], Environment]] = MappingProxyType(
    {"shop": _open_shop} | {f"tau2:{domain}": partial(_open_tau2, domain) for domain in ("airline", "retail", "mock")}
)


def builtin_environment(name: str) -> Environment | None:
    """Return a fresh instance of one of our own environments; None for any other name. Safe for recorded names."""
    opener = BUILTIN_ENVIRONMENTS.get(name)
    return opener() if opener is not None else None


def open_environment(name: str) -> Environment:
    """Return a fresh instance of the environment that the user named: one of our own, or `module:attribute`."""
    if (builtin := builtin_environment(name)) is not None:
        return overridden(builtin, settings_here().effects.get(name))
    module, _, attribute = name.partition(":")
    if not module or not attribute or module == "tau2":
        raise UsageError(
            f"no environment is named {name!r}{meant(name, BUILTIN_ENVIRONMENTS)}; there are "
            f"{', '.join(BUILTIN_ENVIRONMENTS)}, and your own as MODULE:ATTRIBUTE."
        )
    return overridden(_fresh(name, imported("environment", module, attribute)), settings_here().effects.get(name))


def imported(what: str, module: str, attribute: str, others: Sequence[str] = ()) -> object:
    """Import what the user named, from the working directory too; `others`: what a mistyped name may have meant."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            raise UsageError(
                f"{what} {module}:{attribute}: there is no module {module} in {here} or among the packages"
                f"{meant(module, others)}."
            ) from None
        raise UsageError(f"{what} {module}:{attribute}: importing it failed: {error}.") from error
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{what} {module}:{attribute}: importing it raised {type(error).__name__}: {error}."
        ) from error
    if not hasattr(found, attribute):
        public = [name for name in vars(found) if not name.startswith("_")]
        raise UsageError(f"module {module} has no attribute {attribute!r}{meant(attribute, public)}.")
    found_there: object = getattr(found, attribute)
    return found_there


def _fresh(name: str, value: object) -> Environment:
    """Return a fresh environment of a value with `fresh()`, or of a function that makes one."""
    fresh = getattr(value, "fresh", None)
    made = fresh() if callable(fresh) and not isinstance(value, type) else value
    if not hasattr(made, "prepare") and callable(made):
        made = made()
    if not all(hasattr(made, method) for method in ("tasks", "prepare", "reset", "act", "evaluate")):
        raise UsageError(
            f"environment {name}: expected an Environment, or a function that returns one, found {type(made).__name__}."
        )
    return cast("Environment", made)


# -- protocols and prompts ---------------------------------------------------------------------------------------------


def protocol(name: str, options: Sequence[str] = ()) -> EpisodeProtocol:
    """Return the protocol with `key=value` options, each read as its option's type."""
    if name not in PROTOCOLS:
        raise UsageError(f"no protocol is named {name!r}{meant(name, PROTOCOLS)}; there are {', '.join(PROTOCOLS)}.")
    known = types_of(PROTOCOLS[name])
    values: dict[str, Any] = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"-o takes KEY=VALUE, found {text!r}; {name} has {', '.join(known)}.")
        if key not in known:
            raise UsageError(f"{name} has no option {key!r}{meant(key, known)}; it has {', '.join(known)}.")
        values[key] = _value(key, value, known[key])
    return PROTOCOLS[name](**values)


def _value(key: str, text: str, wanted: object) -> object:
    kinds = get_args(wanted) if get_origin(wanted) is UnionType else (wanted,)
    if NoneType in kinds and text == "none":
        return None
    if bool in kinds:
        if text not in {"true", "false"}:
            raise UsageError(f"option {key} is true or false, found {text!r}.")
        return text == "true"
    if int in kinds:
        try:
            return int(text)
        except ValueError:
            allowed = "a whole number or none" if NoneType in kinds else "a whole number"
            raise UsageError(f"option {key} is {allowed}, found {text!r}.") from None
    return text


def open_prompts(given: str | None) -> Prompts | None:
    """Return the prompts of `recorded` (None: as they were), `current` (the shipped ones) or a FILE."""
    match given:
        case None | "recorded":
            return None
        case "current":
            return Prompts()
        case file:
            try:
                text = Path(file).expanduser().read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                raise UsageError(f"--prompts {file} cannot be read: {why}.") from None
            return Prompts.from_json(text)
