"""H22: a secret is planted wherever one can come from, and found in no sink by a search of the bytes.

Real driver, real command line, real HTTP model servers. Files are searched as they lie and unpacked: every table, every
column, every body and text.
"""

import base64
import json
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import Result

from spectrace.store.bodies import unpacked
from spectrace.store.sql import open_store
from tests.command_line import Line, in_a_directory
from tests.model_server import Answer, ModelServer, chunks, completion, model_server

PLANTED = "PL4NTED"
"""In every secret: what the files are searched for."""


def secret(place: str) -> str:
    return f"{PLANTED}-{place}-77"


ENCODED = base64.b64encode(f"api_key={secret('base64')}".encode()).decode()

DESK = f'''
from spectrace.environments.functions import FunctionEnvironment, Task, tool

@tool(effect="read")
def settings() -> str:
    """Read the settings. Its own password: '{secret("description")}'"""
    return (
        "export SEARCH_TOKEN={secret("output")}\\n"
        "callback https://h.example/x?key={secret("query")}&lang=en\\n"
        "dsn postgresql://app:{secret("dsn")}@db/prod\\n"
        "Set-Cookie: sid={secret("header")}; Path=/\\n"
        "blob {ENCODED}"
    )

@tool(effect="write")
def log_in(password: str) -> str:
    """Log in."""
    raise ValueError("login failed: password=" + password + " client_secret={secret("exception")}")

def open_desk():
    return FunctionEnvironment.from_functions(
        "desk", (settings, log_in), "Use api_key='{secret("instructions")}'.",
        tasks=(Task("t1", "Log in, my password: {secret("request")}", data='{{"access_token": "{secret("data")}"}}'),),
    )
'''


def said(action: object, **delta: object) -> list[str]:
    """Return a streamed answer, cut in the middle of what it says."""
    text = json.dumps(action)
    cut = text.find(PLANTED) + 3 if PLANTED in text else 4
    return chunks({"role": "assistant", **delta, "content": text[:cut]}, {"content": text[cut:]})


def streamed(action: object, **delta: object) -> Answer:
    return Answer(pieces=said(action, **delta), headers={"x-echo": f"Bearer {secret('response')}"})


WEAK = [
    streamed({"tool": "log_in", "arguments": {"password": secret("rejected")}}),
    streamed({"tool": "settings", "arguments": {}}, reasoning_content=f"password={secret('reasoning')}"),
    Answer({"error": {"message": f"overloaded, api_key={secret('body')}"}}, 503, {"retry-after": "0"}),
    streamed({"tool": "log_in", "arguments": {"password": secret("arguments")}}),
    streamed({"finish": f"done, the token={secret('answer')}"}),
]
REJECTED = {
    "verdict": "reject",
    "first_wrong": 1,
    "category": "unsafe",
    "reason": f"it sends password={secret('reason')}",
    "replacement": {"tool": "settings", "arguments": {}},
}
STRONG = [completion(json.dumps(REJECTED)), completion('{"verdict": "accept"}'), completion('{"verdict": "accept"}')]
PLACES = sorted({"base64", "label", *re.findall(rf"{PLANTED}-(\w+)-77", DESK + repr(WEAK) + repr(STRONG))})


@pytest.fixture
def line(monkeypatch, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.syspath_prepend(str(tmp_path / "work"))
    (tmp_path / "work" / "planted_desk.py").write_text(DESK)
    return in_a_directory(monkeypatch, tmp_path / "work")


def run(line: Line, weak: ModelServer, strong: ModelServer, settings: str = "") -> Result:
    weak.chat(*WEAK)
    strong.chat(*STRONG)
    models = [
        f'[models.{role}]\nprovider = "openai"\nname = "{role}"\nurl = "{server.url}/v1"\nstream = {stream}\n'
        for role, server, stream in (("weak", weak, "true"), ("strong", strong, "false"))
    ]
    Path("spectrace.toml").write_text("\n".join([*models, settings]))
    label = f"api_key={secret('label')}"
    return line("run", "--env", "planted_desk:open_desk", "--task", "t1", "--label", label, "--json")


def everything(database: Path) -> bytes:
    """Return the bytes of a database's every column, unpacked where they are packed."""
    found = [path.read_bytes() for path in database.parent.glob(f"{database.name}*")]
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - the database's own name
                found += [value if isinstance(value, bytes) else str(value).encode() for value in row]
        for table, column in (("events", "payload"), ("blobs", "bytes")):
            for codec, data in connection.execute(f'SELECT codec, "{column}" FROM {table}'):  # noqa: S608 - ours
                found.append(unpacked(codec, data))
    connection.close()
    return b"\n".join(found)


def held(data: bytes | str) -> list[str]:
    """Return where the planted secrets of some bytes come from; coded ones too."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    coded = [ENCODED[4:-8]] if ENCODED[4:-8] in text else []
    return sorted(set(re.findall(rf".{{0,40}}{PLANTED}.{{0,20}}", text))) + coded


@pytest.mark.slow
def test_secrets_of_every_place_reach_no_sink(line, tmp_path):
    open_store("sqlite:///spectrace.db").close()
    reader = sqlite3.connect("spectrace.db")  # reads to the end: nothing is checkpointed before the search
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    with model_server() as weak, model_server() as strong:
        done = run(line, weak, strong)
    episode = json.loads(done.stdout)["items"][0]["episode"]

    assert len(PLACES) >= 12
    assert (tmp_path / "work" / "spectrace.db-wal").stat().st_size > 0
    assert held(everything(tmp_path / "work" / "spectrace.db")) == []
    assert held(done.stdout + done.stderr) == []
    for command in (
        ["show", episode],
        ["show", episode, "--json"],
        ["why", episode],
        ["ls", "--json"],
        ["audit", "actions", "--json"],
        ["export", "jsonl", episode, "-o", "all.jsonl"],
        ["pack", episode, "-o", "all.zip"],
        ["unpack", "all.zip", "--db", "sqlite:///other.db"],
        ["replay", episode],
    ):
        result = line(*command)
        assert result.exit_code in {0, 1}, result.output
        assert held(result.output) == [], command
    reader.close()
    for file in (*(tmp_path / "work").iterdir(), *(tmp_path / "temporary").rglob("*")):
        if file.is_file() and file.suffix != ".py":
            assert held(file.read_bytes()) == [], file.name
    assert held(everything(tmp_path / "work" / "other.db")) == []
    assert line("scan-secrets").exit_code == 0


def test_the_planted_secrets_were_really_on_their_way(line, tmp_path):
    """The control: with redaction off the same run writes what the same search finds."""
    with model_server() as weak, model_server() as strong:
        run(line, weak, strong, "[redaction]\nenabled = false\n")

    data = everything(tmp_path / "work" / "spectrace.db").decode("utf-8", "replace")
    there = {place for place in PLACES if secret(place) in data} | ({"base64"} if ENCODED in data else set())
    assert set(PLACES) - there == {"response"}  # a response's headers are kept by nobody
    assert line("scan-secrets").exit_code == 1


def test_the_same_secret_has_one_placeholder_and_the_episode_replays_without_its_key(line, monkeypatch, tmp_path):
    with model_server() as weak, model_server() as strong:
        done = run(line, weak, strong)
    episode = json.loads(done.stdout)["items"][0]["episode"]
    assert line("pack", episode, "-o", "all.zip").exit_code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(elsewhere))

    (item,) = line.items("replay", episode, "--db", str(tmp_path / "work" / "all.zip"))

    assert (item["result"], list(elsewhere.iterdir())) == ("same", [])


def test_a_model_server_that_is_not_there_is_named_without_its_credentials(line):
    (Path.cwd() / "spectrace.toml").write_text('database = "sqlite:///spectrace.db"\n')
    url = f"http://user:{secret('url')}@127.0.0.1:1/v1?api_key={secret('url')}"

    result = line(
        "run", "--env", "shop", "--task", "cancel-own", "--weak", f"openai:a@{url}", "--strong", f"openai:b@{url}"
    )

    assert (result.exit_code, held(result.output)) == (1, [])
