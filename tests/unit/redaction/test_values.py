"""Every text of a structured value through a redactor."""

import json

from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.types import Call, Completion, Message, Observation, Task, ToolCall, ToolSpec
from spectrace.redaction.values import has_placeholder, leaves, mangled, redacted, restored, told_task, unknown
from tests.episodes import recorded_events
from tests.redaction import PASSWORD, redactor

SECRET = json.dumps({"password": PASSWORD})


def test_a_value_without_secrets_is_the_very_same_object():
    value = Completion(Message("assistant", "W200 is cancelled", (ToolCall("s1", "read", '{"id": 1}'),)))

    assert redacted(redactor(), value) is value


def test_every_text_of_a_nested_value_is_redacted():
    value = Completion(
        Message("assistant", f"password={PASSWORD}", (ToolCall("s1", "log_in", SECRET),)), reasoning=f"say {PASSWORD}"
    )

    told = redacted(redactor(), value)

    assert (PASSWORD in repr(told), told.message.calls[0].name) == (False, "log_in")


def test_what_was_redacted_is_put_back_in_an_action():
    one, action = redactor(), Call("log_in", SECRET)
    told = redacted(one, action)

    assert (told != action, restored(one, told), unknown(one, told)) == (True, action, ())


def test_without_a_redactor_everything_stays():
    value = Observation(SECRET)

    assert redacted(None, value) is value


def test_a_label_is_told_by_its_name():
    assert redacted(redactor(), (("api_key", "zz-1"), ("team", "zz-2")))[1] == ("team", "zz-2")
    assert "zz-1" not in repr(redacted(redactor(), (("api_key", "zz-1"),)))


def test_an_episode_is_found_by_the_names_it_had_and_its_digests_are_of_what_is_recorded():
    first = recorded_events()[0].body
    secret = first.__class__(
        **{name: getattr(first, name) for name in first.__slots__}
        | {
            "task": Task("password=id-1234", f"password={PASSWORD}"),
            "tools": (ToolSpec("a", f"password={PASSWORD}", "{}"),),
            "run": "password=run-1234",
        }
    )

    told = redacted(redactor(), secret)

    assert (told.task.id, told.run, PASSWORD in repr(told)) == ("password=id-1234", "password=run-1234", False)
    assert (told.task_digest, told.tools_digest) == (task_digest(told.task), tools_digest(told.tools))
    assert told_task(redactor(), secret.task) == told.task


def test_a_placeholder_is_seen_at_any_depth():
    one = redactor()
    told = redacted(one, (Observation(SECRET),))

    assert (has_placeholder(told), has_placeholder((Observation(SECRET),)), unknown(one.fresh(), told) == ()) == (
        True,
        False,
        False,
    )


def test_leaves_map_texts_and_nothing_else():
    assert leaves((1, None, True, "a", ("b",)), str.upper) == (1, None, True, "A", ("B",))


def test_a_mangled_placeholder_is_seen_in_any_text_of_a_value():
    action = Call("log_in", json.dumps({"password": "REDACTED-SECRET-0906166776D2"}))

    assert mangled(redactor(), action) == ("REDACTED-SECRET-0906166776D2",)
    assert mangled(redactor(), Call("log_in", SECRET)) == ()
