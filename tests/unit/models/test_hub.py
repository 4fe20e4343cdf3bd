import time

import pytest
from model_server import Answer, model_server

from spectrace.models.catalogue import Entry
from spectrace.models.hub import HubUnavailable, open_hub

ENTRY = Entry("tiny", "t", "Me/Tiny", "tiny.gguf", "main", 4, "0" * 64, "Apache-2.0")
PATH = "/Me/Tiny/resolve/main/tiny.gguf"


@pytest.fixture(autouse=True)
def hub(server, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", f"{server.url}/")
    return server


def test_the_file_is_asked_for_at_its_revision(hub):
    hub.on(PATH, Answer("GGUF"))

    with open_hub(ENTRY, 0) as response:
        assert response.read() == b"GGUF"
    assert "range" not in hub.received[0].headers


def test_the_rest_of_a_file_is_asked_for_by_range(hub):
    hub.on(PATH, Answer("UF", 206))

    with open_hub(ENTRY, 2) as response:
        assert response.status == 206
    assert hub.received[0].headers["range"] == "bytes=2-"


@pytest.mark.slow
def test_a_hub_that_does_not_answer_is_given_up_on_within_seconds(hub):
    hub.on(PATH, Answer("GGUF", delay_s=30))
    started = time.monotonic()

    with pytest.raises(HubUnavailable):
        open_hub(ENTRY, 0)

    assert time.monotonic() - started < 7


def test_a_hub_that_refuses_is_quoted(hub):
    hub.on(PATH, Answer("", 403))

    with pytest.raises(HubUnavailable, match="HTTP Error 403"):
        open_hub(ENTRY, 0)


def test_an_unreachable_hub_is_said_to_be_so(monkeypatch):
    with model_server() as gone:
        pass
    monkeypatch.setenv("HF_ENDPOINT", gone.url)

    with pytest.raises(HubUnavailable, match="refused"):
        open_hub(ENTRY, 0)


def test_an_offline_hub_is_not_asked(hub, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(HubUnavailable, match="HF_HUB_OFFLINE is set"):
        open_hub(ENTRY, 0)

    assert hub.received == []


def test_an_endpoint_that_is_no_url_is_refused(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")

    with pytest.raises(HubUnavailable, match="is no URL"):
        open_hub(ENTRY, 0)
