"""Cases 043 and 076: what a tool said as JSON stays the text that it was, wherever an episode is taken."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from spectrace.audit.bundles import verify_bundle
from spectrace.core.digest import text_digest
from spectrace.core.events import ActCompleted, ActRequested, Body
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_import import import_jsonl
from spectrace.store.bundle import pack
from spectrace.store.copying import copy_log
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.unpacking import unpack
from tests.transfers import lines_of

CASES = Path(__file__).resolve().parents[1] / "cases"
TEXTS = {
    "076": (CASES / "076-jsonb-changes-the-payload" / "payload.json").read_text(encoding="utf-8"),
    "043": (CASES / "043-float-layout-and-minus-zero" / "values.json").read_text(encoding="utf-8"),
    "043 other": (CASES / "043-float-layout-and-minus-zero" / "same_values_other_layout.json").read_text("utf-8"),
}


def recorded(store) -> list[str]:
    """Record each text as what a tool answered, short as it is and long enough for a blob."""
    bodies = sample_episode(1, segments=1)
    asked = next(body for body in bodies if isinstance(body, ActRequested))
    done = next(body for body in bodies if isinstance(body, ActCompleted))
    texts = [text * times for text in TEXTS.values() for times in (1, 4)]
    events: list[Body] = []
    for seq, text in zip(range(1, 100, 2), texts, strict=False):
        events += [asked, replace(done, request=seq, observation=replace(done.observation, content=text))]
    writer = store.create("ep1", bodies[0], EPOCH_US)
    writer.append(pending([bodies[0], *events])[1:], durable=True)
    writer.close()
    return texts


def told(store) -> list[str]:
    return [event.body.observation.content for event in store.read("ep1") if isinstance(event.body, ActCompleted)]


def test_copied_packed_and_exported_over_both_databases_it_is_the_same_text_and_digest(tmp_path, postgres_url):
    first = open_store(str(tmp_path / "first.db"))
    texts = recorded(first)
    stores = [first, open_store(postgres_url)]
    copy_log(*stores)
    for number, way in enumerate(["copied", "unpacked", "imported"]):
        stores.append(open_store(str(tmp_path / f"{way}.db")))
        match number:
            case 0:
                copy_log(stores[-2], stores[-1])
            case 1:
                unpack(pack(stores[-2], ["ep1"], tmp_path / "a.zip").path, stores[-1])
            case _:
                export_jsonl(stores[-2], ["ep1"], tmp_path / "a.jsonl")
                import_jsonl(tmp_path / "a.jsonl", stores[-1])
    found = [(told(store), lines_of(store, "ep1")) for store in stores]
    for store in stores:
        store.close()

    assert found == [(texts, found[0][1])] * 5


def test_equal_values_in_another_layout_are_another_text_and_another_digest():
    one, other = TEXTS["043"], TEXTS["043 other"]

    assert json.loads(one) == json.loads(other)
    assert text_digest(one) != text_digest(other)
    assert "-0.0" in one


@pytest.mark.parametrize("member", ["episodes/ep1.jsonl", "blob"])
def test_one_byte_changed_in_a_nested_value_is_found(tmp_path, member):
    store = open_store(str(tmp_path / "first.db"))
    recorded(store)
    path = pack(store, ["ep1"], tmp_path / "a.zip").path
    store.close()
    changed = 0
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        for name in source.namelist():
            data = source.read(name)
            nested = (
                rb"\\\"b\\\":1" if name == member else b'"b":1' if member == "blob" and "blobs" in name else b"\0none"
            )
            changed += data.count(nested)
            made.writestr(name, data.replace(nested, nested[:-1] + b"2"))
    results = {one.episode: one for one in verify_bundle(tmp_path / "b.zip").results}

    assert changed
    assert (results["ep1"].result, results["ep1"].first_bad_seq) == ("invalid", 2 if member != "blob" else 4)
