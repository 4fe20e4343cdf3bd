"""How a compression dictionary is made: `python -m spectrace.store.training 1` wrote dictionaries/v1.zdict.

It is trained on the bodies of `samples`, which hold no text of anybody's. It is made once: a dictionary that is out in
the world never changes, so the tool refuses to write over one. A better one gets the next number.
"""

import sys
from pathlib import Path

import zstandard

from spectrace.errors import UsageError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import sample_episode

SIZE = 16 << 10
"""Measured on other sample episodes: 16 KB packs as well as 64 KB, because only the envelope repeats."""
EPISODES = 400


def bodies(seeds: range) -> list[bytes | bytearray | memoryview]:
    """Return the canonical bodies of the sample episodes."""
    encoder = BodyEncoder(TextReferences())
    found: list[bytes | bytearray | memoryview] = []
    for seed in seeds:
        messages = MessageWriter()
        found += [encoder.encode(body, messages)[1] for body in sample_episode(seed, segments=2 + seed % 5)]
    return found


def train(size: int = SIZE) -> bytes:
    """Return a dictionary."""
    return zstandard.train_dictionary(size, bodies(range(EPISODES)), level=3).as_bytes()


def main(number: str) -> None:
    """Write the dictionary of that number, once."""
    path = Path(__file__).with_name("dictionaries") / f"v{int(number)}.zdict"
    if path.exists():
        raise UsageError(f"{path.name} exists and never changes: give the next number.")
    path.write_bytes(train())


if __name__ == "__main__":
    main(*sys.argv[1:])
