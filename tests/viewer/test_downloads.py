"""What a download of a long text holds: the bytes that were recorded, whatever the page could show of them."""

from dataclasses import replace

import pytest

from spectrace.core.events import ActCompleted
from spectrace.core.types import Observation
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store
from tests.viewer.conftest import APP as _APP  # noqa: F401 - skips without streamlit
from viewer import details


@pytest.mark.parametrize(
    ("content", "data"),
    [
        ((b"ok \xff end " * 10_000).decode("utf-8", "surrogateescape"), b"ok \xff end " * 10_000),
        ("half \ud835 " * 10_000, b"half \xed\xa0\xb5 " * 10_000),
        ("a\0é " * 10_000, b"a\0\xc3\xa9 " * 10_000),
    ],
    ids=["bytes", "half a pair", "nul"],
)
def test_a_download_is_the_recorded_bytes(tmp_path, monkeypatch, content, data):
    path = str(tmp_path / "log.db")
    monkeypatch.setenv("SPECTRACE_DB", path)
    store, sample = open_store(path), sample_episode(5)
    body = next(body for body in sample if isinstance(body, ActCompleted))
    said = replace(body, observation=Observation(content))
    writer = store.create("ep", sample[0], EPOCH_US)
    writer.append([Pending(1, "", EPOCH_US, said)], durable=True)
    writer.close()
    store.close()

    assert details._long("ep", 1, 0) == data
