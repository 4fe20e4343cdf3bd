"""Rules on the state: reads that changed it, a state that moved under a held action, the same write twice.

They rest on fingerprints, and on keys: an environment without the former, an import without them, is not judged.
"""

from collections.abc import Iterator

from spectrace.audit.repeats import key_of
from spectrace.audit.rules_account import Account, Act, Found
from spectrace.core.events import ActCompleted, ResetCompleted, StateMoved
from spectrace.core.types import Call, Effect

_JUDGED = frozenset({"verdict", "person"})
_LOOKS_EVERYWHERE = 2
"""The protocol revision from which on every read is looked at, not only the drafter's own."""
_SHORT = 19


def read_changed_state(account: Account) -> Iterator[Found]:
    """Yield declared reads that changed the state: a warning where the log says so, a violation where it does not."""
    for act in account.acts.values():
        answer = act.answer
        if act.effect != Effect.READ or answer is None or answer.fingerprint_after is None:
            continue
        if answer.fingerprint_before == answer.fingerprint_after:
            continue
        if act.observed is not None:
            yield act.seq, f"{act.where} is declared a read and changed the state (event {act.observed})", "warning"
        elif _has_to_say(account, act):
            yield act.seq, f"{act.where} is declared a read and changed the state, and no event says so"


def _has_to_say(account: Account, act: Act) -> bool:
    revision = account.started.protocol_revision if account.started is not None else 0
    looks = act.authority == "read" or revision >= _LOOKS_EVERYWHERE
    done = act.completed
    return account.own and looks and done is not None and account.whole and account.goes_on(done.seq, act.lane)


def reads_with_state(account: Account) -> Iterator[tuple[int, bool]]:
    """Yield each read that was answered: whether it can be told if it changed anything."""
    for act in account.acts.values():
        if act.effect == Effect.READ and act.answer is not None:
            yield act.seq, act.answer.fingerprint_after is not None


def state_moved(account: Account) -> Iterator[Found]:
    """Yield what was approved on one state and done on another: a warning where that is recorded, as it has to be."""
    told = {one.body.position for one in account if isinstance(one.body, StateMoved)}
    last: str | None = None
    for event in account:
        match event.body:
            case StateMoved(position=position):
                yield event.seq, f"the state moved between holding and doing the action at {position}", "warning"
            case ResetCompleted(fingerprint=fingerprint):
                last = fingerprint
            case ActCompleted(fingerprint_before=before, fingerprint_after=after, request=request):
                act = account.acts.get(request)
                if act is not None and act.named[0] in _JUDGED and None not in {last, before} and last != before:
                    silent = act.position not in told and account.own and account.whole
                    if silent and account.goes_on(event.seq, event.lane):
                        moved = f"{str(last)[:_SHORT]} when it was held, {str(before)[:_SHORT]} when it was done"
                        yield act.seq, f"the state moved under {act.where} ({moved}), and no event says so"
                last = after
            case _:
                pass


def held_with_state(account: Account) -> Iterator[tuple[int, bool]]:
    """Yield each approved action that was done: whether its environment has fingerprints."""
    for act in account.acts.values():
        if act.named[0] in _JUDGED and act.answer is not None:
            yield act.seq, act.answer.fingerprint_before is not None


def repeated_write(account: Account) -> Iterator[Found]:
    """Yield writes that were done, or may have been, before: a warning; a violation where the key is the same."""
    keys, calls = dict[str, int](), dict[tuple[str, object], int]()
    for act in account.acts.values():
        if act.effect == Effect.READ:
            continue
        if act.key and act.key in keys:
            yield act.seq, f"{act.where} was sent under the idempotency key of event {keys[act.key]}"
            continue
        keys.setdefault(act.key, act.seq)
        if act.effect != Effect.WRITE or not isinstance(act.action, Call) or _failed(act):
            continue
        same = act.action.tool, key_of(act.action.arguments)
        if same in calls:
            yield act.seq, f"{act.where} is the same write as event {calls[same]}", "warning"
        calls.setdefault(same, act.seq)


def _failed(act: Act) -> bool:
    """Whether the environment said that it did not do it."""
    return act.answer is not None and act.answer.outcome == "error"
