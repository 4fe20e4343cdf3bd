import contextlib
import json

import pytest
from tau2_files import (
    AIRLINE,
    BYE,
    DATA,
    GREETING,
    HELLO,
    RETAIL,
    calls,
    result,
    result_file,
    says,
    simulation,
    task,
    written,
)

from spectrace.core.deeds import changes_state, deeds
from spectrace.core.digest import digest
from spectrace.core.events import EpisodeStarted, GenerateRequested
from spectrace.core.fold import fold
from spectrace.errors import UsageError
from spectrace.interchange.tau2 import import_file
from spectrace.store import admin
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.soundness import check
from spectrace.store.sql import open_store


def strings(value):
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            for item in value.values():
                yield from strings(item)


def test_a_real_file_becomes_one_episode_a_simulation(event_store):
    (imported,) = import_file(RETAIL, event_store, project="p", run="r")

    episode = fold(event_store.read(imported.episode))
    assert (episode.started.project, episode.started.run, imported.task) == ("p", "r", "0")
    assert (episode.ended.outcome, episode.ended.reason, episode.ended.reward) == ("completed", "user_stop", "1.0")
    assert episode.totals == episode.ended.totals
    assert (episode.totals.strong_calls, episode.totals.user_calls, episode.totals.writes) == (11, 7, 1)
    assert [step.fate for segment in episode.segments for step in segment.steps] == ["committed"] * 11
    assert event_store.row(imported.episode).state == "ended"


@pytest.mark.parametrize("path", [AIRLINE, RETAIL])
def test_nothing_that_the_file_says_is_dropped(path):
    store = MemoryEventStore()
    (imported,) = import_file(path, store)

    kept = {text for event in store.read(imported.episode) for text in _texts(event.body)}

    filed = json.loads(path.read_text())
    assert set(strings(filed["simulations"])) | set(strings(filed["info"])) <= kept | {"assistant", "user", "tool"}


def _texts(body):
    """Every text that an event holds; JSON texts are looked into."""
    for value in _leaves(body):
        yield value
        with contextlib.suppress(ValueError):
            yield from strings(json.loads(value))


def _leaves(value):
    match value:
        case str():
            yield value
        case tuple():
            for item in value:
                yield from _leaves(item)
        case _ if hasattr(value, "__slots__"):
            for name in value.__slots__:
                yield from _leaves(getattr(value, name))


def test_times_are_the_files_and_never_go_backwards(event_store):
    (imported,) = import_file(AIRLINE, event_store)

    times = [event.at for event in event_store.read(imported.episode)]
    assert times == sorted(times)
    assert times[0] == 1_773_476_369_310_266  # 2026-03-14T08:19:29.310266
    assert times[-1] > times[0]


def test_every_model_call_holds_the_conversation_so_far(event_store):
    (imported,) = import_file(AIRLINE, event_store)

    asked = [event.body for event in event_store.read(imported.episode) if isinstance(event.body, GenerateRequested)]
    sizes = [len(body.messages) for body in asked if body.who == "strong"]
    assert sizes == [2, 4, 6, 8]


def test_an_invented_tool_is_imported_whole_and_changed_nothing(event_store):
    (imported,) = import_file(DATA / "unknown_tool.json", event_store)

    found = [deed for deed in deeds(event_store.read(imported.episode)) if deed.kind == "call"]
    assert [(deed.tool, deed.effect_declared, deed.outcome) for deed in found] == [
        ("extend_loan_period", "write", "error"),
        ("renew_loan", "write", "ok"),
    ]
    assert fold(event_store.read(imported.episode)).ended.reward == "0.0"


def test_a_dialogue_that_stops_before_the_write_is_complete_and_wrote_nothing(event_store):
    (imported,) = import_file(DATA / "stop_before_the_write.json", event_store)

    episode = fold(event_store.read(imported.episode))
    writes = [deed for deed in deeds(event_store.read(imported.episode)) if changes_state(deed) and deed.kind == "call"]
    assert (writes, episode.ended.outcome, episode.ended.reason) == ([], "completed", "user_stop")
    assert episode.history.steps[-1].observation.content == "Yes, please do. ###STOP###"


def test_an_entry_is_recorded_once(event_store):
    (first,) = import_file(AIRLINE, event_store)
    before = event_store.row(first.episode)

    (second,) = import_file(AIRLINE, event_store)

    assert (second.episode, second.losses) == (first.episode, ())
    assert second.skipped == (
        f"entry 0e32d252-7a06-4893-b390-b048a0ec32ff of {AIRLINE.name} is here already, "
        f"as episode {first.episode} (whole)"
    )
    assert event_store.row(first.episode) == before


def test_an_import_is_on_record_once(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    found = import_file(AIRLINE, store)
    import_file(AIRLINE, store)
    (log,) = admin.episodes(store.database)
    _, begun, record = (event.body for event in store.read(log))
    store.close()

    assert (begun.what, begun.source, begun.episodes) == ("imported", AIRLINE.name, len(found))
    assert (record.source, record.episodes) == (AIRLINE.name, len(found))
    assert record.source_digest == digest(AIRLINE.read_bytes())


def test_an_import_that_stopped_is_not_sound_until_it_is_done_again(tmp_path):
    store = open_store(str(tmp_path / "log.db"))

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(AIRLINE, store, progress=stop)
    stopped = problems(tmp_path / "log.db")
    import_file(AIRLINE, store)
    store.close()

    assert f"not all of {AIRLINE.name} was imported" in stopped["copies"]
    assert problems(tmp_path / "log.db") == {}


def problems(path):
    return {one.check: one.problem for one in check(str(path)) if one.problem is not None}


def cut_off(path, store, events):
    """Import a file up to some event, as a killed process would; return the whole."""
    source = MemoryEventStore()
    (imported,) = import_file(path, source)
    whole = list(source.read(imported.episode))
    started = whole[0].body
    assert isinstance(started, EpisodeStarted)
    writer = store.create(imported.episode, started, whole[0].at)
    writer.append([Pending(event.seq, "", event.at, event.body) for event in whole[1:events]], durable=True)
    writer.close()
    return whole


def test_an_import_that_was_killed_at_its_first_event_is_finished(event_store):
    whole = cut_off(AIRLINE, event_store, 1)

    (again,) = import_file(AIRLINE, event_store)

    assert (again.episode, again.skipped) == (whole[0].episode, None)
    assert list(event_store.read(again.episode)) == whole


def test_an_episode_that_somebody_cut_off_later_is_left_as_it_is(event_store):
    whole = cut_off(AIRLINE, event_store, 3)

    (again,) = import_file(AIRLINE, event_store)

    assert again.skipped.endswith("(cut off after 3 events)")
    assert list(event_store.read(again.episode)) == whole[:3]


def test_an_episode_that_another_process_imports_is_left_to_it(event_store):
    (imported,) = import_file(AIRLINE, source := MemoryEventStore())
    started = next(source.read(imported.episode)).body
    writer = event_store.create(imported.episode, started, 0)

    (again,) = import_file(AIRLINE, event_store)

    assert again.skipped.endswith("(being written now)")
    writer.close()


def test_layout_is_not_recorded_and_everything_else_is(tmp_path, event_store):
    one = result_file(simulation(GREETING, HELLO, calls(("c1", "f", {"b": "ä", "a": [1.0, 2]})), result("c1", "{ }")))
    (wide,) = import_file(written(tmp_path, json.dumps(one, indent=4)), event_store)
    (narrow,) = import_file(written(tmp_path, json.dumps(one, ensure_ascii=False)), event_store)

    first, second = (fold(event_store.read(imported.episode)) for imported in (wide, narrow))

    assert first.started.task_digest == second.started.task_digest
    assert first.history.steps[0].action.arguments == '{"b":"ä","a":[1.0,2]}'
    assert (first.history, first.history.steps[0].observation.content) == (second.history, "{ }")


def test_equal_ids_in_one_file_are_two_episodes(tmp_path):
    one = simulation(GREETING, HELLO, says("Bye"), BYE)

    found = import_file(written(tmp_path, result_file(one, one)), MemoryEventStore())

    assert len({imported.episode for imported in found}) == 2
    assert [imported.skipped for imported in found] == [None, None]


def test_hostile_text_is_recorded_as_it_is_wherever_it_stands(tmp_path, event_store):
    text = "\0 \ud800 <script> \u2028"
    messages = (GREETING, HELLO, calls((text, text, {text: text})), result(text, text), says(text), BYE)
    definitions = {"policy": text, "tool_defs": {text: {"doc": text}}}
    one = task(text) | {"user_scenario": {"instructions": text}}
    file = result_file(simulation(*messages, id_=text, task_id=text), tasks=[one], domain=text, environment=definitions)

    (imported,) = import_file(written(tmp_path, file), event_store)

    episode = fold(event_store.read(imported.episode))
    called, said = episode.history.steps
    assert (called.action.tool, json.loads(called.action.arguments)) == (text, {text: text})
    assert (called.observation.content, said.action.text) == (text, text)
    assert (episode.started.task.request, episode.started.instructions, imported.task) == (text, text, text)


def test_progress_is_told_after_each_entry(tmp_path):
    told = []
    path = written(tmp_path, result_file(*(simulation(GREETING, HELLO, id_=str(n)) for n in range(3))))

    import_file(path, MemoryEventStore(), progress=lambda done, total: told.append((done, total)))

    assert told == [(1, 3), (2, 3), (3, 3)]


def test_another_file_records_nothing(tmp_path, event_store):
    with pytest.raises(UsageError, match="found an object with 'messages'"):
        import_file(written(tmp_path, {"messages": []}), event_store)
