"""FORMAT.md, section 5, followed with the standard library: texts and prompts are those that spectrace reads."""

import json
import zipfile

import pytest

from spectrace.core.events import GenerateRequested
from spectrace.store.bundle import pack
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded
from tests.transfers import write_episode


@pytest.fixture(scope="module", params=["recorded", "awkward"])
def bundle(request, tmp_path_factory):
    store = MemoryEventStore()
    episode = "ep1"
    if request.param == "recorded":
        episode = recorded(store)
    else:
        write_episode(store, episode)
    path = pack(store, [episode], tmp_path_factory.mktemp("bundle") / "a.zip").path
    return path, store, episode


def by_hand(path, episode) -> list[tuple[dict, list]]:
    """Return (body with its texts, prompt) of each generate.requested."""
    with zipfile.ZipFile(path) as archive:
        blobs = {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist() if "blobs/" in name}
        lines = [json.loads(line) for line in archive.read(f"episodes/{episode}.jsonl").decode().split("\n")[:-1]]

    def text(value):
        if isinstance(value, dict) and "$blob" in value:
            data = blobs[value["$blob"].removeprefix("sha256:")]
            errors = {None: "strict", "wtf-8": "surrogatepass", "bytes": "surrogateescape"}
            return data.decode("utf-8", errors[value.get("codec")])
        if isinstance(value, dict):
            return {name: text(item) for name, item in value.items()}
        return [text(item) for item in value] if isinstance(value, list) else value

    messages, found = {}, []
    for line in lines:
        if json.loads(line["header"])[3] != "generate.requested":
            continue
        body = text(json.loads(line["body"]))
        sent = body["messages"]
        messages.update(enumerate(sent["new"], sent["base"]))
        prompt = [messages[n] for first, count in sent["ranges"] for n in range(first, first + count)]
        found.append((body, prompt))
    return found


def test_prompts_and_texts_are_those_that_were_sent(bundle):
    path, store, episode = bundle
    asked = [event.body for event in store.read(episode) if isinstance(event.body, GenerateRequested)]
    found = by_hand(path, episode)

    assert asked
    assert [(body["position"], body["response_schema"]) for body, _ in found] == [
        (one.position, one.response_schema) for one in asked
    ]
    assert [[(message["role"], message["content"]) for message in prompt] for _, prompt in found] == [
        [(message.role, message.content) for message in one.messages] for one in asked
    ]
