"""What models write, in few words: actions and verdicts, for a ScriptedModel or a Playbook.

    ScriptedModel(call("cancel_order", order_id="W200"), finish("Done."))
    ScriptedModel(reject(1, call("get_order", order_id="W200"), reason="look first"), accept())

An action is the value itself; a verdict is the text that a reviewer writes, so that a broken one is just another text.
"""

import json

from spectrace.core.types import Action, Call, Finish, Reply
from spectrace.models.scripted import action_message

__all__ = ["accept", "call", "finish", "reject", "reply", "written"]


def call(tool: str, /, **arguments: object) -> Call:
    """Return a tool call; for arguments that are no proper JSON say `Call(tool, text)`."""
    return Call(tool, json.dumps(arguments))


def reply(text: str) -> Reply:
    """Return a reply to the user, who may answer."""
    return Reply(text)


def finish(text: str) -> Finish:
    """Return the final answer."""
    return Finish(text)


def accept() -> str:
    """Return a verdict that lets all of a segment stand."""
    return json.dumps({"verdict": "accept"})


def reject(first_wrong: int, replacement: Action | None = None, category: str = "premature", reason: str = "no") -> str:
    """Return a verdict that lets the steps before `first_wrong` stand (1: none), with a step in place of that one."""
    return json.dumps(
        {
            "verdict": "reject",
            "first_wrong": first_wrong,
            "category": category,
            "reason": reason,
            "replacement": None if replacement is None else json.loads(written(replacement)),
        }
    )


def written(action: Action) -> str:
    """Return an action as a model writes it that has no native tool calls."""
    return action_message(action, native=False).content
