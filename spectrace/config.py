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
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.protocols import PROTOCOLS
from spectrace.settings import DEFAULT_DATABASE, Settings, load_settings, meant

Progress = Callable[[int, int, str], None]
"""Told of weights being fetched: bytes done, bytes in all, what is going on."""

_SPEC = re.compile(r"(?P<provider>[a-z][a-z0-9_-]*):(?P<name>.*?)(?:@(?P<url>https?://.*))?", re.DOTALL)
PROVIDERS = ("anthropic", "local", "openai", "scripted", "sglang")
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


def open_model(spec: str, settings: Settings | None = None, *, progress: Progress | None = None) -> ModelClient:
    """Open `provider:name[@url]`, or a name of spectrace.toml. Nothing is contacted, fetched or started yet."""
    settings = settings or settings_here()
    if spec in settings.models:
        return _from_table(spec, settings.models[spec], progress)
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise UsageError(_no_such_model(spec, settings))
    table: dict[str, object] = {"provider": match["provider"], "name": match["name"]}
    if match["url"]:
        table["url"] = match["url"]
    return _from_table(spec, table, progress)


def _no_such_model(spec: str, settings: Settings) -> str:
    where = settings.path or "there is no spectrace.toml here (`spectrace init` writes one)"
    named = ", ".join(settings.models)
    there = f"{where} names {named}" if named else f"{where}" + (" names none" if settings.path else "")
    return (
        f"no model is named {spec!r}{meant(spec, settings.models)}: {there}. A model is one of those names or "
        "PROVIDER:NAME[@URL], for example local:weak, sglang:NAME@http://127.0.0.1:30000 or scripted:FILE; "
        f"the providers are {', '.join(PROVIDERS)}."
    )


def _from_table(label: str, table: Mapping[str, object], progress: Progress | None) -> ModelClient:
    provider, name = str(table.get("provider", "")), str(table.get("name", ""))
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
            return _server(label, provider, name, table)


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

    def __init__(self, settings: Settings, progress: Progress | None = None) -> None:
        """Open nothing yet."""
        self._settings = settings
        self._progress = progress
        self._open: dict[str, ModelClient] = {}

    def open(self, spec: str) -> ModelClient:
        """Return the model of that name."""
        if spec not in self._open:
            self._open[spec] = open_model(spec, self._settings, progress=self._progress)
        return self._open[spec]

    async def close(self) -> None:
        """Close every model that was opened."""
        while self._open:
            _, client = self._open.popitem()
            await client.close()


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
    builtin = builtin_environment(name)
    if builtin is not None:
        return builtin
    module, _, attribute = name.partition(":")
    if not module or not attribute or module == "tau2":
        raise UsageError(
            f"no environment is named {name!r}{meant(name, BUILTIN_ENVIRONMENTS)}; there are "
            f"{', '.join(BUILTIN_ENVIRONMENTS)}, and your own as MODULE:ATTRIBUTE."
        )
    return _imported(module, attribute)


def _imported(module: str, attribute: str) -> Environment:
    """Import the user's own environment, from the working directory too: a value with `fresh()`, or a function."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.startswith(error.name):
            raise UsageError(
                f"environment {module}:{attribute}: there is no module {module} in {here} or among the packages."
            ) from None
        raise UsageError(f"environment {module}:{attribute}: importing it failed: {error}.") from error
    except Exception as error:
        raise UsageError(
            f"environment {module}:{attribute}: importing it raised {type(error).__name__}: {error}."
        ) from error
    if not hasattr(found, attribute):
        public = [name for name in vars(found) if not name.startswith("_")]
        raise UsageError(f"module {module} has no attribute {attribute!r}{meant(attribute, public)}.")
    return _fresh(f"{module}:{attribute}", getattr(found, attribute))


def _fresh(name: str, value: object) -> Environment:
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
