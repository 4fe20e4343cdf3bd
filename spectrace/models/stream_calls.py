"""Which call a streamed piece belongs to: heads carry a name, tails carry arguments, and the labels are not reliable.

Servers repeat an index, leave it out, or send an id again with every piece. A piece is placed only where one call alone
can be meant; a call whose arguments are a whole JSON object can take no more. Otherwise the reply is refused
(InvalidReply): pieces of two calls, glued together, can be valid JSON and reach a tool that writes, and a head taken
for a call of its own runs a tool without arguments. A name that comes again is the same call only under its id, and
only where every piece behind the head repeats the same labels; index, id and name all equal are one call by the
dialect. Without ids it is the same call only where the indexes alone tell the calls apart (`_renamed_doubt`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from spectrace.models.calls import InvalidReply, json_object


@dataclass(slots=True)
class _Open:
    """A call, as far as it has arrived."""

    index: int | None
    id: str | None
    name: str | None
    pieces: list[object] = field(default_factory=list)
    begun: frozenset[str] | None = None
    """Which labels its first piece carried."""
    tails: set[frozenset[str]] = field(default_factory=set)
    """Which labels its other pieces carried."""
    shape: str = ""
    """Its pieces in order: x with arguments, . without."""
    overfull: bool = False
    """Whether arguments came after a whole JSON object: perhaps another call's."""
    restated: bool = False
    """Whether its head stands twice: the same call as long as index and id tell calls apart."""
    renamed: bool = False
    """Whether its name came again under its index alone, without an id."""
    echo: bool = False
    """Whether its head may be the call before it, named once more."""

    @property
    def carried(self) -> frozenset[str]:
        """Which labels it carries."""
        given = {"index": self.index, "id": self.id, "name": self.name}
        return frozenset(label for label, value in given.items() if value is not None)

    @property
    def text(self) -> str:
        return "".join(piece for piece in self.pieces if isinstance(piece, str))

    @property
    def whole(self) -> bool:
        """Whether the arguments are a JSON object: nothing can follow."""
        return json_object(self.text) is not None

    @property
    def arguments(self) -> object:
        """The arguments as an unstreamed reply has them: text, or the object that was sent in one piece."""
        if all(isinstance(piece, str) for piece in self.pieces):
            return self.text
        if len(self.pieces) > 1:
            raise InvalidReply(f"the arguments of the call {self.name!r} came in pieces that are not all text")
        return self.pieces[0]


class CallPieces:
    """The calls of one stream."""

    def __init__(self) -> None:
        """No call has arrived yet."""
        self._calls: list[_Open] = []
        self._noted: dict[str, None] = {}
        self._interleaved = False
        self._returned = False

    @property
    def anomalies(self) -> tuple[str, ...]:
        """What was odd about the labels, each said once."""
        return tuple(self._noted)

    @property
    def _shared(self) -> bool:
        """Whether two calls carry one id or one index."""
        labels = ([call.id for call in self._calls], [call.index for call in self._calls])
        return any(len(set(given)) < len(given) for given in labels)

    def shown(self) -> list[str]:
        """Return the calls as lines for a reader: they may be unfinished."""
        return [f"{call.name or ''} {call.text}".strip() for call in self._calls]

    def whole(self) -> list[object]:
        """Return the calls as an unstreamed body lists them, or raise InvalidReply where one is not certain."""
        for number, call in enumerate(self._calls, 1):
            if call.name is None:
                raise InvalidReply(f"its tool call {number} names no function")
            if self._noted and len(self._calls) > 1 and call.text.strip() and not call.whole:
                raise InvalidReply(f"{self._doubt()}, and the arguments of call {number} are not whole")
        ordered = self._calls
        if len(self._calls) > 1 and any(call.overfull for call in self._calls):
            raise self._undecided("arguments go on after a whole JSON object")
        if any(call.restated for call in self._calls) and self._shared:
            raise self._undecided("a head stands twice under one id, and calls share their ids or indexes")
        if any(call.echo and not call.text.strip() for call in self._calls):
            raise self._undecided("a head without arguments may be the call before it, named again")
        if any(call.renamed for call in self._calls) and (doubt := self._renamed_doubt()) is not None:
            raise self._undecided(f"names come again without ids, and {doubt}")
        if self._interleaved and not all(call.text.strip() for call in self._calls):
            raise self._undecided("arguments go to an earlier call while another has none")
        if not self._noted:
            ordered = sorted(ordered, key=lambda call: call.index or 0)
        return [{"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in ordered]

    def take(self, piece: object) -> None:
        """Place one piece, or raise InvalidReply."""
        function = piece.get("function") if isinstance(piece, Mapping) else None
        if not isinstance(piece, Mapping) or not isinstance(function, Mapping | None):
            raise InvalidReply("a piece of a tool call is no object")
        index, id_, name = piece.get("index"), piece.get("id"), (function or {}).get("name")
        arguments = (function or {}).get("arguments")
        head = _Open(
            index if isinstance(index, int) and not isinstance(index, bool) else None,
            id_ if isinstance(id_, str) and id_ else None,
            name if isinstance(name, str) and name else None,
        )
        if head.index is None:
            self._note("a piece of a tool call has no index")
        call = self._meant(head, blank=arguments is None or arguments == "")
        self._label(call, head.carried)
        self._returned |= call is not self._calls[-1]
        call.shape += "x" if str(arguments or "").strip() else "."
        call.id, call.name = call.id or head.id, call.name or head.name
        if arguments is not None and arguments != "":
            if str(arguments).strip():
                call.overfull |= call.whole
                self._interleaved |= call is not self._calls[-1]
            call.pieces.append(arguments)

    def _meant(self, head: _Open, *, blank: bool) -> _Open:
        """Return the call that a piece belongs to; a new one where it begins one."""
        same = [call for call in self._calls if head.id is not None and call.id == head.id]
        if same:
            return self._known(head, same, blank=blank)
        if head.id is not None:
            return self._labelled_new(head)
        if head.name is not None:
            return self._named(head)
        return self._tail(head)

    def _known(self, head: _Open, same: list[_Open], *, blank: bool) -> _Open:
        """Place a piece whose id there is already: servers repeat it with every piece, or give it to another call."""
        at = [call for call in same if head.index in {None, call.index}]
        if head.name is None:
            return self._only(at or same)
        if not at or (at[-1].whole and not blank):
            return self._begin(head)
        if at[-1].name not in {None, head.name}:
            raise self._undecided(f"the id {head.id!r} names {at[-1].name!r}, then {head.name!r}")
        if at[-1].name is not None and (blank or not at[-1].text.strip()):
            if head.index is None:
                raise self._undecided(f"the head {head.name!r} stands twice, without an index")
            at[-1].restated = True
        return self._only(at)

    def _labelled_new(self, head: _Open) -> _Open:
        """Place a piece with an id that no call has, yet: a head, or its late id."""
        at = self._at(head.index)
        waiting = [call for call in at if call.id is None and call.name in {None, head.name} and not call.whole]
        if waiting and (head.name is None or waiting[-1].name is None):
            return self._only(waiting)
        if head.name is None and at:
            raise self._undecided(f"a piece with the new id {head.id!r} names no function")
        return self._begin(head)

    def _named(self, head: _Open) -> _Open:
        """Place a head without an id."""
        at = self._at(head.index) if head.index is not None else self._calls[-1:]
        among = self._calls if head.index is None else at[:-1]
        if any(call.name == head.name and not call.text.strip() for call in among):
            raise self._undecided(f"the head {head.name!r} comes again, perhaps for a call that waits for arguments")
        if not at or at[-1].whole:
            return self._begin(head, echo=bool(at) and at[-1].name == head.name)
        last = at[-1]
        if last.name is None:
            return last
        if head.index is None and not last.text.strip():
            return self._begin(head)
        if head.index is not None and last.name == head.name:  # the name again with every piece
            last.renamed |= last.id is None
            return last
        raise self._undecided(f"a head {head.name!r} without an id comes inside the call {last.name!r}")

    def _renamed_doubt(self) -> str | None:
        """Return why names that come again without ids could be further calls; None where one call an index is meant.

        Several indexes that only go up, each call done before the next, are of a server that numbers its calls: then
        each may begin with a head without arguments, if all do. One index alone could be a constant: only arguments
        that do not begin anew go on with the same call for certain.
        """
        renamed = [call for call in self._calls if call.renamed]
        labels = frozenset({"index", "name"})
        if any({call.begun, *call.tails} != {labels} for call in self._calls):
            return "some pieces carry other labels than index and name"
        indexes = [call.index or 0 for call in self._calls]
        if self._returned or any(later <= index for index, later in pairwise(indexes)):
            return "the index goes back or stands for two calls"
        if any(call.text.strip() and not call.whole for call in self._calls[:-1]):
            return "the index goes on while the arguments are unfinished"
        heads = {call.shape.rstrip("x") for call in renamed}
        several = len(self._calls) > 1
        led = several and heads == {"."} and all(call.shape.startswith(".") for call in self._calls)
        if heads != {""} and not led:
            return "a piece without arguments may be a call of its own"
        if not several and any(str(piece).lstrip().startswith("{") for piece in renamed[0].pieces[1:]):
            return "an opening brace under the only index may begin another call's arguments"
        return None

    def _tail(self, piece: _Open) -> _Open:
        """Place a piece with neither id nor name."""
        if not self._calls:
            raise self._undecided("arguments come before any call")
        last = self._calls[-1]
        if piece.index is None:
            if any(not call.whole for call in self._calls[:-1]):
                raise self._undecided("a piece without id and index could belong to two calls")
            return last
        at = self._at(piece.index)
        if len(at) == 1:
            return at[0]
        if not at:
            # A head under an index that was taken already, whose tail carries the index that it should have had.
            if piece.index == len(self._calls) - 1 and len(self._at(last.index)) > 1:
                return last
            raise self._undecided(f"a piece carries the index {piece.index}, which no call has")
        return self._only([call for call in at if not call.whole])

    def _only(self, candidates: list[_Open]) -> _Open:
        if len(candidates) != 1:
            raise self._undecided("a piece could belong to more than one call, or to none")
        return candidates[0]

    def _label(self, call: _Open, labels: frozenset[str]) -> None:
        """Refuse a call named again where not all pieces behind its head carry the same: it may be another head."""
        if call.begun is None:
            call.begun = labels
            return
        call.tails.add(labels)
        again = "name" in call.begun and any("name" in tail for tail in call.tails)
        if again and (len(call.tails) > 1 or not labels <= call.begun):
            raise self._undecided(f"some pieces of the call {call.name!r} name it again and some do not")

    def _begin(self, head: _Open, *, echo: bool = False) -> _Open:
        if head.index is not None and self._at(head.index):
            self._note(f"two tool calls carry the index {head.index}")
        call = _Open(head.index, head.id, head.name, echo=echo)
        self._calls.append(call)
        return call

    def _at(self, index: int | None) -> list[_Open]:
        return [call for call in self._calls if index is not None and call.index == index]

    def _note(self, anomaly: str) -> None:
        self._noted[anomaly] = None

    def _doubt(self) -> str:
        return "the pieces of its tool calls cannot be told apart: " + "; ".join(self._noted)

    def _undecided(self, why: str) -> InvalidReply:
        self._note(why)
        return InvalidReply(self._doubt())
