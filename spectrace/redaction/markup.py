"""Secrets in XML and HTML: in an element of a secret's name, in the attributes of one, in the cell beside its label."""

import re
from collections.abc import Iterator

from spectrace.redaction.findings import SECRET, Found
from spectrace.redaction.judging import looks_chosen, prose, says_nothing
from spectrace.redaction.names import Named, named

_TAG = re.compile(r"<(?P<element>[A-Za-z][\w.:\-]{0,63})(?P<attributes>\s[^<>]{1,2048})?>(?P<value>[^<>]{1,4096})?")
_ATTRIBUTE = re.compile(
    r"(?<![\w.:\-])(?P<name>[A-Za-z][\w.:\-]{0,63})\s?=\s?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')"
)
_LABEL = re.compile(
    r"<(?:dt|th|td|key|label)(?:\s[^<>]{0,256})?>\s{0,16}(?P<name>[^<>]{1,64})</(?:dt|th|td|key|label)>"
    r"\s{0,64}<(?:dd|td|string|value|span|code)(?:\s[^<>]{0,256})?>(?P<value>[^<>]{1,4096})<"
)
_NAMING = frozenset({"name", "key", "id", "type", "property"})
_VALUES = frozenset({"value", "content"})


def by_markup(text: str, extra: frozenset[str]) -> Iterator[Found]:
    """Yield what is a secret by the element or the attributes that it stands in."""
    for tag in _TAG.finditer(text):
        told = tag["element"] if named(tag["element"], extra) is Named.STRONG else ""
        values = []
        for one in _ATTRIBUTE.finditer(tag["attributes"] or ""):
            value = one[one.lastgroup or 0]
            if one["name"].lower() in _NAMING and named(value, extra) is Named.STRONG:
                told = told or value
            elif one["name"].lower() in _VALUES:
                start, end = one.span(one.lastgroup or 0)
                values.append((tag.start("attributes") + start, tag.start("attributes") + end))
        if told:
            values = values or [tag.span("value")]
            yield from (Found(start, end, SECRET, f"element {told}") for start, end in _trimmed(text, values))
    for pair in _LABEL.finditer(text):
        name = pair["name"].strip().rstrip(":")
        if named(name, extra) is Named.STRONG and looks_chosen(pair["value"].strip()):
            for start, end in _trimmed(text, [pair.span("value")]):
                yield Found(start, end, SECRET, f"value beside {name}")


def _trimmed(text: str, places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in places:
        value = text[start:end] if start >= 0 else ""
        bare = value.strip()
        if not says_nothing(bare) and not prose(bare):
            begin = start + len(value) - len(value.lstrip())
            yield begin, begin + len(bare)
