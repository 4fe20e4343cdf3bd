from spectrace.audit.report_records import records
from spectrace.core.admin_events import AdminErased, AdminKeyChanged, ErasedRange
from spectrace.store import admin
from spectrace.store.process import operator
from spectrace.store.sql import open_store


def test_every_record_is_told_with_time_who_and_which_episodes_it_took_from(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    by = operator()
    ranges = (ErasedRange("a", 1, 3), ErasedRange("a", 5, 5), ErasedRange("b", 0, 0))
    erased = AdminErased(by=by, spectrace="1", person="Ann", reason="asked to", how="named", events=ranges, blobs=2)
    at = [
        admin.record(store, body)
        for body in (erased, AdminKeyChanged(by=by, spectrace="1", what="checkpoint", key="k+1+x", previous=None))
    ]
    opened, erasure, key = records(store, admin.episodes(store.database))
    store.close()

    assert [opened.kind, erasure.kind, key.kind] == ["opened", "erased", "key_changed"]
    assert [erasure.event, key.event] == at
    assert erasure.by == f"{by.user}@{by.host}"
    assert erasure.text == "5 events of 2 episodes erased (named), 2 texts removed, ordered by Ann: asked to"
    assert (erasure.episodes, key.episodes) == (("a", "b"), ())


def test_a_log_that_is_not_there_has_no_records(store):
    assert records(store, ()) == []
