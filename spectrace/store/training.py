"""How compression dictionaries are made: `python -m spectrace.store.training 2` wrote dictionaries/v2.zdict.

1 was trained on the bodies of `samples`, 2 on those of `rehearsal`, 3 on the latter's blobs: none holds text of
anybody's. A dictionary is made once: one that is out in the world never changes (a test knows its hash), so the tool
refuses to write over it. A better one gets the next number; training anew need not give the same bytes, for it
changes with the vocabulary and with zstd's version.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import zstandard

from spectrace.core.events import Body
from spectrace.errors import UsageError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.rehearsal import rehearsed_episode
from spectrace.store.samples import sample_episode

EPISODES = 400
SIZES = {1: 16 << 10, 2: 32 << 10, 3: 32 << 10}
"""Number -> bytes. Measured on real episodes: 64 KB pack them 1 % smaller than 32 KB, 16 KB 2 % larger."""
_LONGEST = 8 << 10
"""What is trained on of one text: the beginning is what a dictionary helps with."""

Made = Callable[[int], list[Body]]


def samples(number: int, episodes: Iterable[int] = range(EPISODES)) -> list[bytes | bytearray | memoryview]:
    """Return what a dictionary is trained on."""
    make: Made = sample_of if number == 1 else rehearsal_of
    found: list[bytes | bytearray | memoryview] = []
    for seed in episodes:
        bodies, blobs = encoded(make(seed))
        found += [text[:_LONGEST] for text in blobs] if number == 3 else bodies  # noqa: PLR2004 - blobs are its subject
    return found


def sample_of(seed: int) -> list[Body]:
    """Return a sample episode of some length."""
    return sample_episode(seed, segments=2 + seed % 5)


def rehearsal_of(seed: int) -> list[Body]:
    """Return a rehearsed episode of some length."""
    return rehearsed_episode(seed, segments=2 + seed % 4)


def encoded(episode: Iterable[Body]) -> tuple[list[bytes], list[bytes]]:
    """Return an episode's canonical bodies and its blobs."""
    texts, messages = TextReferences(), MessageWriter()
    encoder = BodyEncoder(texts)
    bodies = [encoder.encode(body, messages)[1] for body in episode]
    return bodies, list(texts.take().blobs.values())


def train(number: int) -> bytes:
    """Return a dictionary."""
    return zstandard.train_dictionary(SIZES[number], samples(number), level=3).as_bytes()


def main(number: str) -> None:
    """Write the dictionary of that number, once."""
    path = Path(__file__).with_name("dictionaries") / f"v{int(number)}.zdict"
    if path.exists():
        raise UsageError(f"{path.name} exists and never changes: give the next number.")
    path.write_bytes(train(int(number)))


if __name__ == "__main__":
    main(*sys.argv[1:])
