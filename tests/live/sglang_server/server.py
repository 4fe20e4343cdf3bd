"""A real SGLang server on this machine's CPU: environment, weights and process, each made once and reused.

    python server.py [PORT] [weak|tiny] [bfloat16|float32]      start one by hand; Ctrl-C stops it

The environment (2.6 GB) and the converted weights (1.3 GB) lie in spectrace's cache folder, never in the checkout; the
environment's name holds the digest of the requirements, so a change of pins makes a new one. The server itself is
unmodified; what it lacks on a CPU is in `shim/`.
"""

import hashlib
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from spectrace.models.catalogue import cache_root, find
from spectrace.models.weights import fetch

HERE = Path(__file__).parent
NAME = "weak"
TINY = "tiny"
"""Random weights with the weak model's tokenizer: as fast as a server can be here, for what only counts calls."""
_FLAGS = {TINY: ("--constrained-json-disable-any-whitespace",)}
"""Between the tokens of JSON random weights would write blanks for ever."""
WEIGHT_VERSION = "spectrace-live-1"
ADMIN_KEY = "dummy-admin-key"
"""Not a secret: it is there to show that no fact holds it. Only administrative pages ask for it."""

_READY_S = 300
_STOP_S = 15
_NO_DEPS = "# no-deps: "


class ServerFailed(Exception):
    """The environment, the conversion or the server failed; the text ends with its last words."""


def unsupported() -> str | None:
    """Return why SGLang's wheels do not run here, or None."""
    libc, version = platform.libc_ver()
    if sys.platform != "linux" or platform.machine() != "x86_64" or libc != "glibc":
        return f"SGLang on a CPU needs x86_64 and glibc, this is {platform.machine()} and {libc or sys.platform}"
    if tuple(int(part) for part in version.split(".")[:2]) < (2, 34):
        return f"SGLang's wheels need glibc 2.34, this is {version}"
    return None


def environment() -> Path:
    """Return the Python of the server's environment, made on first use."""
    requirements = HERE / "requirements.txt"
    lines = requirements.read_text().splitlines()
    key = f"{sys.version_info.major}.{sys.version_info.minor}\n{requirements.read_text()}"
    folder = cache_root() / "sglang" / f"venv-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    python, done = folder / "bin" / "python", folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _say("making SGLang's environment (minutes, once)")
            venv.create(folder, with_pip=True, symlinks=True)
            bare = [line.removeprefix(_NO_DEPS) for line in lines if line.startswith(_NO_DEPS)]
            pip = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
            _run([*pip, "-r", str(requirements)])
            _run([*pip, "--no-deps", *bare])
            done.touch()
    return python


def weights(python: Path, name: str = NAME) -> Path:
    """Return the folder of a model's weights in bfloat16, converted or drawn on first use."""
    if name == TINY:
        folder, source = cache_root() / "sglang" / "tiny-random-1-bf16", weights(python)
        return _made(folder, lambda half: _run([str(python), str(HERE / "make_tiny.py"), str(source), str(half)]))
    entry = find(NAME)
    assert entry is not None
    folder = cache_root() / "sglang" / f"{entry.name}-{entry.sha256[:12]}-bf16"

    def convert(half: Path) -> None:
        _say("converting the weights (a minute, once)")
        _run([str(python), str(HERE / "convert_gguf.py"), str(fetch(entry)), str(half)])

    return _made(folder, convert)


def _made(folder: Path, make: Callable[[Path], None]) -> Path:
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            make(half)
            half.rename(folder)
    return folder


@contextmanager
def running(
    port: int | None = None, name: str = NAME, dtype: str = "bfloat16", flags: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the URL of a running server that serves a model by its name; its process group is ended afterwards."""
    python = environment()
    model = weights(python, name)
    port = port or _free_port()
    url = f"http://127.0.0.1:{port}"
    log = cache_root() / "sglang" / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                *_command(python, model, port),
                "--served-model-name",
                name,
                "--dtype",
                dtype,
                *_FLAGS.get(name, ()),
                *flags,
            ],
            env=_environ(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait(process, url, log)
        yield url
    finally:
        _end(process)
    log.unlink(missing_ok=True)  # after a failure it stays, and the error names it


def flush(url: str) -> None:
    """Empty the server's prefix cache; an administrative page."""
    request = urllib.request.Request(f"{url}/flush_cache", b"", {"authorization": f"Bearer {ADMIN_KEY}"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - our own server
        response.read()


def _command(python: Path, model: Path, port: int) -> list[str]:
    options = {
        "--model-path": model,
        "--host": "127.0.0.1",
        "--port": port,
        "--device": "cpu",
        "--attention-backend": "torch_native",
        "--sampling-backend": "pytorch",
        "--max-total-tokens": 32768,  # without it the pool takes 14 GB
        "--context-length": 16384,
        "--tool-call-parser": "hermes",
        "--weight-version": WEIGHT_VERSION,
        "--admin-api-key": ADMIN_KEY,
    }
    flags = ["--enable-cache-report", "--enable-metrics", "--disable-overlap-schedule", "--skip-server-warmup"]
    flags += ["--sleep-on-idle"]  # or the scheduler spins on a core that the tests need
    pairs = [str(part) for pair in options.items() for part in pair]
    return [str(python), "-m", "sglang.launch_server", *pairs, *flags]


def _environ() -> dict[str, str]:
    """One thread: with two, OpenMP spins against the scheduler and decoding is ten times slower."""
    ours = {
        "PYTHONPATH": str(HERE / "shim"),
        "SGLANG_USE_CPU_ENGINE": "1",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    return {**os.environ, **ours}


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Poll /model_info: /health generates a token and takes a second each time."""
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise ServerFailed(f"The server ended with {process.returncode}. {_last_words(log)}")
        try:
            with urllib.request.urlopen(f"{url}/model_info", timeout=5) as response:  # noqa: S310 - our own server
                json.load(response)
                return
        except (OSError, ValueError):
            time.sleep(0.5)
    raise ServerFailed(f"The server was not ready within {_READY_S} s. {_last_words(log)}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the parent and its children: scheduler and detokenizer outlive a parent that is killed alone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        until = time.monotonic() + _STOP_S
        while time.monotonic() < until and _alive(process):
            time.sleep(0.1)
    process.wait()


def _alive(process: subprocess.Popen[bytes]) -> bool:
    process.poll()  # reap the parent, or its group never disappears
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env=_environ(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerFailed(f"{' '.join(command[:4])} ... failed: {(done.stdout + done.stderr)[-2000:]}")


def _last_words(log: Path) -> str:
    return f"Its log {log} ends: {log.read_text(errors='replace')[-2000:]}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - a script's progress


if __name__ == "__main__":
    given = sys.argv[1:]
    with running(int(given[0]) if given else None, *given[1:]) as address:
        _say(f"ready: {address}")
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
