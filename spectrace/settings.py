"""spectrace.toml: what it may say, read strictly. Counterpart of `config`, which turns it into adapters.

The file lies in the working directory, or where SPECTRACE_CONFIG says. A key that is not known is an error that names
the known ones: a misspelt `constrianed` must not silently change a run. Secrets are never written here.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spectrace.cost.prices import Price, read_prices
from spectrace.environments.effects import Overrides, parse_overrides
from spectrace.errors import UsageError
from spectrace.models.keys import refuse_literal_keys
from spectrace.redaction.rules import Rules, read_rules
from spectrace.store.retention import Retention, read_retention

FILE = "spectrace.toml"
DEFAULT_DATABASE = "sqlite:///spectrace.db"

_TOP = {
    "database": str,
    "project": str,
    "models": dict,
    "prices": dict,
    "audit": dict,
    "retention": dict,
    "redaction": dict,
    "effects": dict,
}
_MODEL = {
    "provider": str,
    "name": str,
    "url": str | list,
    "key_env": str,
    "key_file": str,
    "calls": str,
    "constrained": bool,
    "stream": bool,
    "timeout_s": int | float,
    "idle_s": int | float,
    "n_ctx": int,
    "parameters": dict,
}
_AUDIT = {"rules": list}
_KINDS: Mapping[object, str] = {int | float: "number", str | list: "str or a list of them"}
_SHY = frozenset({"key_env", "key_file", "url"})
"""Where a key may have been pasted: an error does not repeat what stands there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What spectrace.toml says; everything is optional."""

    path: Path | None = None
    """The file, if there is one."""
    database: str | None = None
    project: str = "default"
    models: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Model name -> its table."""
    prices: Mapping[str, tuple[Price, ...]] = field(default_factory=dict)
    """`provider:name` -> what its tokens cost, by day."""
    retention: Retention = field(default_factory=Retention)
    """How long episodes are kept, for `erase --retention`."""
    rules: tuple[str, ...] = ()
    """Rules of the user's own, `module:attribute`, that `audit violations` asks beside ours."""
    redaction: Rules = field(default_factory=Rules)
    effects: Mapping[str, Overrides] = field(default_factory=dict, kw_only=True)
    """Environment -> the operator's word on the effects of its tools."""
    """What is redacted before anything is written, and with which key."""


def load_settings(environ: Mapping[str, str], directory: Path) -> Settings:
    """Read the settings; without a file all are defaults. Raise UsageError naming the line or key that is wrong."""
    named = environ.get("SPECTRACE_CONFIG")
    path = Path(named).expanduser() if named else directory / FILE
    if not named and not path.exists() and not path.is_symlink():
        return Settings()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{path} cannot be read: {why}.") from None
    return read_settings(text, path)


def read_settings(text: str, path: Path) -> Settings:
    """Read the text of a spectrace.toml."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}.") from None
    _check(path, "", values, _TOP)
    models: Mapping[str, object] = values.get("models", {})
    tables: dict[str, Mapping[str, object]] = {}
    for name, table in models.items():
        if not isinstance(table, dict):
            raise UsageError(f"{path}: a model is a table [models.{name}], found {type(table).__name__}.")
        refuse_literal_keys(f"{path}: models.{name}", table)
        _check(path, f"models.{name}", table, _MODEL)
        _check_urls(f"{path}: models.{name}.url", table.get("url"))
        tables[name] = table
    prices = read_prices(values.get("prices", {}), str(path))
    rules = _rules(path, values.get("audit", {}))
    retention = read_retention(values.get("retention", {}), str(path))
    redaction = read_rules(values.get("redaction", {}), path)
    effects = {env: _overrides(path, env, table) for env, table in values.get("effects", {}).items()}
    general = path, values.get("database"), values.get("project", "default")
    return Settings(*general, tables, prices, retention, rules, redaction, effects=effects)


def _overrides(path: Path, env: str, table: object) -> Overrides:
    """Read what an operator says of an environment's tools."""
    if not isinstance(table, dict):
        raise UsageError(f'{path}: effects are a table for each environment, [effects."{env}"], found {table!r}.')
    try:
        return parse_overrides(table)
    except UsageError as error:
        raise UsageError(f'{path}: [effects."{env}"]: {error}') from None


def _rules(path: Path, table: Mapping[str, object]) -> tuple[str, ...]:
    _check(path, "audit", table, _AUDIT)
    names = table.get("rules", [])
    for index, name in enumerate(names if isinstance(names, list) else []):
        if not isinstance(name, str):
            raise UsageError(f'{path}: audit.rules[{index}] must be a str, "module:attribute", found {name!r}.')
    return tuple(names) if isinstance(names, list) else ()


def _check(path: Path, where: str, values: Mapping[str, object], known: Mapping[str, object]) -> None:
    for name, value in values.items():
        full = f"{where}.{name}".lstrip(".")
        if name not in known:
            raise UsageError(f"{path}: {full} is not known{meant(name, known)}. Known: {', '.join(known)}.")
        wanted = known[name]
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):  # type: ignore[arg-type]
            shown = _KINDS.get(wanted) or wanted.__name__  # type: ignore[attr-defined]
            found = type(value).__name__ if name in _SHY else repr(value)
            raise UsageError(f"{path}: {full} must be a {shown}, found {found}.")


def _check_urls(where: str, value: object) -> None:
    """Refuse a list that is not one URL for each replica; what stands there is not repeated."""
    if not isinstance(value, list):
        return
    if not value:
        raise UsageError(f"{where} is an empty list: name a URL for each replica, or leave it out.")
    for index, url in enumerate(value):
        if not isinstance(url, str):
            raise UsageError(f"{where}[{index}] must be a str, found {type(url).__name__}.")
        if url in value[:index]:
            raise UsageError(f"{where}[{index}] is the same as {where.rpartition('.')[2]}[{value.index(url)}].")


def meant(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)` with the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


TEMPLATE = f"""\
# spectrace.toml: models by name, and where the log lies. Never a key: name the variable or the file that holds it.

# The log. --db and SPECTRACE_DB win over this line.
database = "{DEFAULT_DATABASE}"

# How new episodes are filed.
project = "default"

# Credentials never reach the log: placeholders stand for them. More, or less:
# [redaction]
# personal = ["email", "card", "iban", "phone"]   # personal data too
# patterns = [{{name = "employee", regex = "E-[0-9]+"}}]
# fields = ["customer_pin"]       # further names whose value is a secret
# allow = ["password123"]         # texts that are none
# key_file = "PATH"               # the placeholders' key; or key_env = "NAME". Default: one of yours, made when needed
# enabled = false                 # redact nothing

# A model that runs in this process (pip install 'spectrace[local]'); fetched once, 0.5 GB and 1.1 GB.
[models.weak]
provider = "local"
name = "qwen2.5-coder-0.5b"

[models.strong]
provider = "local"
name = "qwen2.5-coder-1.5b"

# A model behind a server.
# [models.big]
# provider = "sglang"             # sglang, openai (any compatible server), anthropic, local, scripted
# name = "Qwen/Qwen3-8B"
# url = "http://127.0.0.1:30000"  # or a list of replicas: ["http://a:30000", "http://b:30000"]
# key_env = "BIG_KEY"             # the environment variable that holds its key; or key_file = "PATH"
# calls = "native"                # how it writes actions: json (under a schema) or native (tool calls)
# constrained = true              # whether the server is sent the JSON Schema of the reply
# stream = true                   # read answers as they arrive: the time of the first token is recorded, and what
#                                 # arrived of an answer that breaks off
# timeout_s = 600                 # for a whole answer
# idle_s = 60                     # for the silence inside a stream
#
# [models.big.parameters]         # sent with every call
# temperature = 0
# max_tokens = 512
#
# [models.rule]                   # who judges in `reverify` and is no model: a function of yours, or people's labels
# provider = "function"           # or "labels", with the file as its name
# name = "checks:judge"
#
# [[prices."openai:NAME"]]        # provider:name; one entry for each day on which the price changed
# input = 0.60                    # USD for a million tokens
# cached = 0.06                   # tokens read from the provider's cache; without it they cost like others. Those
#                                 # written to it cost like others too: who bills them higher is counted too low
# output = 3.60
# since = 2026-11-30
# source = "where you read it"
#
# [retention]                     # how long episodes are kept, from their end on, for `spectrace erase --retention`
# days = 90
#
# [retention.projects]
# support = 30                    # a project with a time of its own; 0 keeps it for good
#
# [effects."module:desk"]         # your word on an environment's tools, above whoever declared them
# get_page = "write"              # read, write, reply or finish; or {{ effect = "read", external = true }}
#
# [audit]
# rules = ["checks:no_late_writes"] # rules of yours, as MODULE:ATTRIBUTE, that `audit violations` asks beside its own
"""
"""What `spectrace init` writes; a test reads it back."""
