"""Short episodes that come to every branch for certain: the random ones come to most of them most of the time."""

from tests.properties.scripts import Judged, Script

ACCEPT = Judged("accept")
NATIVE = (True, True)


def reject(where: str = "last", replacement: str = "null", *, drifts: bool = False) -> Judged:
    return Judged("reject", where, replacement, drifts)


def _fused(replacement: str, objection: str = "none", **of_script: object) -> Script:
    return Script(
        weak=("read", "write"),
        strong=("read",),
        verdicts=(reject("last", replacement),),
        objections=(objection,),
        **of_script,
    )


def _said(says: str) -> Script:
    return Script(weak=("read", "write"), strong=("read",), verdicts=(Judged(says), Judged(says)))


REHEARSED: tuple[tuple[Script, dict[str, object]], ...] = (
    (Script(weak=("read", "write"), verdicts=(Judged("accept_reason"), Judged("accept", drifts=True))), {}),
    (Script(weak=("read", "write"), verdicts=(Judged("accept", drifts=True),)), {}),
    (Script(weak=("read", "read", "write"), verdicts=(reject("first", "read"),)), {}),
    (Script(weak=("read", "read", "write"), verdicts=(reject("middle", "read"),)), {}),
    (_fused("reply"), {}),
    (_fused("finish"), {}),
    (_fused("unknown_tool"), {}),
    (_fused("bad_arguments"), {}),
    (_fused("reply", replies=False), {}),
    (_fused("read", "objects"), {}),
    (_fused("write", "crashes"), {}),
    (_fused("unreadable"), {}),
    (_fused("null"), {}),
    (_fused("write"), {"fused": False, "repair_sees": "draft", "feedback": "reason", "prompts": "separate"}),
    (Script(("write",), ("reads_and_unknown",), (reject(),), native=NATIVE), {}),
    (Script(("write",), ("reads_and_lie",), (reject(),), native=NATIVE), {}),
    (Script(("write",), ("write_and_reads",), (reject(),), moods=("timeout",), native=NATIVE), {}),
    (Script(("write",), ("reads_and_unknown",), (reject(),), moods=("done",), native=NATIVE), {}),
    (Script(("write",), ("prose", "empty"), (reject(),)), {}),
    (_said("prose"), {}),
    (Script(("read", "write"), verdicts=(Judged("out_of_range"), ACCEPT)), {}),
    (Script(("prose", "read", "prose", "empty"), ("read",)), {}),
    (Script(("read", "read", "read", "read"), verdicts=(ACCEPT,)), {"k": 2}),
    (Script(("read", "read", "read", "read"), verdicts=(ACCEPT,)), {"k": 2, "max_unreviewed": 3}),
    (Script(("read", "read", "reply"), verdicts=(ACCEPT, ACCEPT)), {"k": 2, "review": "every"}),
    (Script(("reply", "read"), user=("says",), has_user=True), {}),
    (Script(("read", "reply"), user=("unreachable",), has_user=True), {}),
    (Script(("reply",), verdicts=(ACCEPT,)), {"hold": "writes+replies"}),
    (Script(("external",), verdicts=(ACCEPT,)), {"hold": "writes+external"}),
    (Script(("finish",)), {"finish": "free"}),
    (Script(("again", "again", "again"), verdicts=(ACCEPT,)), {}),
    (Script(("again", "again", "again", "again")), {"stall": "ignore"}),
    (Script(("read", "read", "read")), {"max_steps": 2}),
    (Script(("write", "write"), verdicts=(ACCEPT,)), {"max_strong_calls": 1}),
    (Script(("read", "read")), {"max_tokens": 15}),
    (Script(("read", "max_cost_usd")), {}),
    (Script(("read", "write"), verdicts=(Judged("max_wall_s"),)), {}),
    (Script(("read", "context")), {}),
    (Script(("read", "write"), verdicts=(Judged("context"),)), {}),
    (Script(("read", "unreachable")), {}),
    (Script(("read", "write"), verdicts=(Judged("unreachable"),)), {}),
    (Script(("reads_and_write",), verdicts=(ACCEPT,), native=NATIVE), {}),
    (Script(("reads_and_lie",), native=NATIVE), {}),
    (Script(("read", "write"), verdicts=(ACCEPT,), moods=("ok", "timeout")), {}),
    (Script(("read", "read"), moods=("crash", "long")), {}),
    (Script(("unknown_tool", "read")), {}),
    (Script(("fenced",)), {}),
    (Script(("read",), moods=("done",)), {}),
    (Script(("read", "write"), verdicts=(ACCEPT,)), {"acceptance": "exact"}),
    (Script(("read", "write"), verdicts=(reject("last", "read"),)), {"acceptance": "exact"}),
    (_said("prose"), {"acceptance": "exact"}),
    (Script(("read", "write"), verdicts=(ACCEPT,)), {"verdict": "scored"}),
    (Script(("read", "write"), verdicts=(reject("last", "read"),)), {"verdict": "scored"}),
    (_said("out_of_range"), {"verdict": "scored"}),
    (Script(("read", "read", "write"), verdicts=(ACCEPT,)), {"unreviewed": "revisable", "k": 2}),
    (Script(("read", "read", "write"), ("read",), (reject("first"),)), {"unreviewed": "revisable", "k": 2}),
)
"""(what everybody does, the options that are not the default)"""
