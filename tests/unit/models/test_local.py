import asyncio

import pytest

from spectrace.core.types import Message, ModelRequest
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.local import LocalClient


def test_a_model_that_is_neither_in_the_catalogue_nor_a_file_is_refused_with_the_names():
    with pytest.raises(UsageError, match=r"qwen2.5-coder-0.5b \(weak\).*'medium' is neither \(No such file"):
        LocalClient("medium")


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"PK\x03\x04")

    with pytest.raises(UsageError, match="is no GGUF file: it begins with"):
        LocalClient(str(path))


def test_an_alias_stands_for_the_catalogues_name():
    assert LocalClient("strong").name == "qwen2.5-coder-1.5b"


def test_a_damaged_gguf_is_a_failure_that_names_the_file_and_prints_nothing(tmp_path, capfd):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00 and nothing more")

    with pytest.raises(ModelFailed, match=r"could not load .*model\.gguf") as raised:
        asyncio.run(LocalClient(str(path)).facts())

    assert raised.value.kind == "unreachable"
    assert capfd.readouterr() == ("", "")


def test_a_closed_client_does_not_start_again():
    async def go():
        client = LocalClient("weak")
        await client.close()
        await client.generate(ModelRequest((Message("user", "hi"),)))

    with pytest.raises(ModelFailed, match="was closed"):
        asyncio.run(go())
