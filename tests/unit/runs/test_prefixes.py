import asyncio

import pytest

from spectrace.core.types import ModelFacts
from spectrace.runs.prefixes import Shared, shared_prefix


class Letters:
    """A server whose tokens are the letters of what its chat template makes of the messages."""

    def __init__(self, template):
        self.template = template
        self.requests = []

    async def prompt_ids(self, request):
        self.requests.append(request)
        return tuple(ord(letter) for letter in self.template(request.messages))


def plain(messages):
    turns = [f"<{message.role}>{message.content}{''.join(map(str, message.calls))}\n" for message in messages]
    return "".join([*turns, "<assistant>"])


def counted(messages):
    """Put the number of turns first, as templates with a date or a summary do."""
    return f"{len(messages)} turns\n{plain(messages)}"


def forgetful(messages):
    """Write out the last turn only: what came before the user's last words is rewritten."""
    *earlier, last = messages
    return plain([*(message for message in earlier if message.role == "system"), last])


def shared(template, calls="json"):
    server = Letters(template)
    return asyncio.run(shared_prefix(server, ModelFacts(role="", provider="sglang", name="x", calls=calls))), server


@pytest.mark.parametrize("calls", ["json", "native"])
def test_three_prompts_that_only_grow_share_the_history(calls):
    found, _ = shared(plain, calls)

    assert found.holds
    assert found.history < found.common < min(found.prompts)


def test_the_history_is_as_long_as_its_last_words_reach():
    found, server = shared(plain)
    action = plain(server.requests[2].messages)

    assert action[: found.history].endswith("W1 is cancelled")


@pytest.mark.parametrize("template", [counted, forgetful])
def test_a_template_that_changes_what_came_before_is_found_out(template):
    found, _ = shared(template)

    assert not found.holds


def test_tools_are_sent_to_a_native_model_with_each_of_its_prompts():
    _, server = shared(plain, "native")

    assert {tuple(tool.name for tool in request.tools) for request in server.requests} == {
        ("get_order", "cancel_order")
    }


def test_a_common_prefix_that_ends_before_the_history_does_not_hold():
    assert [Shared(common, 10, (20, 20, 20)).holds for common in (9, 10, 11)] == [False, True, True]
