"""LabelJudge: people's labels as a verifier, `--verifier labels:FILE` (what a file holds: `label_file`).

A label is found by its episode and review. Two labels of one review must agree in what stands and in category: two
people who differ are two verifiers, each with a file of their own. Who said so is recorded with the answer, and the
file's digest among the facts; a replay does not read the file.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from spectrace.core.review_request import ReviewRequest
from spectrace.core.types import Completion, Message, ModelFacts
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.judge import ACCEPT, rejection
from spectrace.models.label_file import Label, read_labels

_SHOWN = 5


class LabelJudge:
    """A file of labels in a model's place."""

    def __init__(self, file: str) -> None:
        """Read the file; raise UsageError naming the line that is wrong."""
        path = Path(file).expanduser()
        try:
            data = path.read_bytes()
            text = data.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise UsageError(f"labels {file} cannot be read: {why}.") from None
        self._file = file
        self._digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._labels = read_labels(text, path.name)
        self._name = path.name
        if not self._labels:
            raise UsageError(
                f"labels {file} has no label yet: fill in decision (accept or reject) of at least one row, then judge "
                "by it. `reverify --template` writes a file with a row for each review."
            )
        self._by_beginning: dict[str, list[Label]] = defaultdict(list)
        for label in self._labels:
            self._by_beginning[label.episode].append(label)
        self._lengths = sorted({len(beginning) for beginning in self._by_beginning})
        self._meant: dict[str, str] = {}
        """What labels call an episode -> the episode that it turned out to be."""
        self._used: set[int] = set()

    async def facts(self) -> ModelFacts:
        """Name the file, its digest, how many labels it holds and whose they are."""
        by = sorted({label.by for label in self._labels if label.by is not None})
        said = {"file": self._name, "digest": self._digest, "labels": len(self._labels), "by": by}
        return ModelFacts("", "labels", self._file, server=json.dumps(said, sort_keys=True, ensure_ascii=False))

    def covers(self, request: ReviewRequest) -> bool:
        """Whether somebody labelled the review; raise UsageError naming the lines that contradict it or each other."""
        return bool(self._of(request))

    @property
    def name(self) -> str:
        """The file's name, without where it lies."""
        return self._name

    def strangers(self) -> Mapping[str, int]:
        """Return what labels call an episode of which no review was asked for, and the line of the first of them."""
        left = (label.episode for label in self._labels if label.line not in self._used)
        return {one: self._by_beginning[one][0].line for one in left if one not in self._meant}

    def strange(self) -> Sequence[int]:
        """Return the lines of labels whose episode was asked for, and whose review was not."""
        return [one.line for one in self._labels if one.line not in self._used and one.episode in self._meant]

    def unused(self) -> tuple[str, ...]:
        """Say which labels no review was found for."""
        said = []
        if strangers := self.strangers():
            shown = listed([f"{one} (line {line})" for one, line in strangers.items()])
            said.append(f"{self._name} has labels of episodes that are not selected: {shown}.")
        if strange := self.strange():
            shown = listed([str(line) for line in strange])
            said.append(f"{self._name} has labels of reviews that are not selected, or are none: lines {shown}.")
        return tuple(said)

    async def judge(self, request: ReviewRequest) -> Completion:
        """Answer with what was labelled, and who did."""
        found = self._of(request)
        if not found:
            where = f"episode {request.episode}, segment {request.segment}"
            raise ModelFailed("invalid", f"{self._name} has no label of {where}.")
        stands = found[0].stands(request.drafted)
        by = list(dict.fromkeys(label.by for label in found if label.by is not None))
        text = ACCEPT
        if stands is not None and stands < request.drafted:
            reason = next((label.reason for label in found if label.reason is not None), None)
            text = rejection(stands, found[0].category, reason)
        said = {"by": by, "file": self._name, "lines": [label.line for label in found]}
        server = json.dumps(said, sort_keys=True, ensure_ascii=False)
        model = f"person:{', '.join(by)}" if by else None
        return Completion(Message("assistant", text), finish_reason="stop", model=model, latency_us=0, server=server)

    async def close(self) -> None:
        """Nothing is held."""

    def _of(self, request: ReviewRequest) -> list[Label]:
        """Return the labels of a review, which agree."""
        beginnings = (request.episode[:length] for length in self._lengths if length <= len(request.episode))
        named = [label for beginning in beginnings for label in self._by_beginning.get(beginning, ())]
        for label in named:
            self._refuse_two_episodes(label, request.episode)
        found = [label for label in named if self._is_of(label, request)]
        for label in found:
            self._refuse_misfit(label, found[0], request)
            self._used.add(label.line)
        return found

    def _refuse_two_episodes(self, label: Label, episode: str) -> None:
        meant = self._meant.setdefault(label.episode, episode)
        if meant != episode:
            raise UsageError(
                f"{self._name}, line {label.line}: episode {label.episode!r} is the beginning of {meant} and of "
                f"{episode}: write more of the id."
            )

    def _is_of(self, label: Label, request: ReviewRequest) -> bool:
        by_verdict = label.verdict_seq is not None and label.verdict_seq == request.verdict_seq
        by_segment = label.segment is not None and label.segment == request.segment
        if label.verdict_seq is not None and label.segment is not None and by_verdict != by_segment:
            raise UsageError(
                f"{self._name}, line {label.line}: segment {request.segment} of {request.episode} has verdict_seq "
                f"{request.verdict_seq}, and this label has segment {label.segment} and verdict_seq "
                f"{label.verdict_seq}: which one is meant?"
            )
        return by_verdict or by_segment

    def _refuse_misfit(self, label: Label, first: Label, request: ReviewRequest) -> None:
        where, drafted = f"{self._name}, line {label.line}", request.drafted
        review = f"segment {request.segment} of {request.episode} has {drafted} step{'s' if drafted > 1 else ''}"
        stands = label.stands(drafted)
        if stands is None and label.accepted is None:
            raise UsageError(
                f"{where}: {review}: a reject needs accepted, how many of them stand (0 to {drafted - 1})."
            )
        if stands is None:
            said = f"decision {label.decision} and accepted" if label.decision else "accepted"
            raise UsageError(f"{where}: {review}, and {said} {label.accepted} cannot be meant of it.")
        if stands == drafted and label.category is not None:
            raise UsageError(f"{where}: {review} and all of them stand: an accept has no category {label.category}.")
        if (stands, label.category) != (first.stands(drafted), first.category):
            raise UsageError(
                f"{where} disagrees with line {first.line} about segment {request.segment} of {request.episode}: keep "
                "one of them, or give each person a file and judge twice."
            )


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are more."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
