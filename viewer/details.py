"""One event in full: header, prompt, verdict as written, body. Drawn for the chosen event only.

A field of many megabytes is drawn as its beginning and its length; the whole of it is a download, made when asked for.
"""

import json
from dataclasses import dataclass

import streamlit as st

from spectrace.audit.erasures import record_words
from spectrace.audit.queries import EventDetail, Reader
from spectrace.core.digest import text_bytes, text_digest
from viewer import source
from viewer.literal import block, clock, inline
from viewer.panels import chip, fact

LONG = 2_000
"""Characters above which a text inside a body is cut and offered as a download."""
BODY = 40_000
MESSAGES = 20
"""Messages of a prompt that are drawn at once."""
DOWNLOADS = 12

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class LongText:
    """A text of a body that is too long to draw, and where it lies: `observation.content`."""

    path: str
    text: str


def draw(reader: Reader, episode: str, seq: int) -> None:
    """Draw an event."""
    detail = reader.event(episode, seq, prompt=False)
    body: Json = json.loads(detail.body)
    with st.container(key="event"):
        _header(detail)
        if detail.type == "generate.requested":
            _prompt(reader, episode, seq)
            body = _without(body, "messages")
        if detail.type == "verdict.given":
            _raw(body)
        _body(detail, body)


def _header(detail: EventDetail) -> None:
    with st.container(key="event-head", horizontal=True, vertical_alignment="center"):
        with st.container(key="event-title", width="content"):
            st.text(f"#{detail.seq}  {inline(detail.type)}")
        if detail.outcome is not None:
            good = detail.outcome in {"ok", "accept", "completed"}
            chip(detail.outcome, "accept" if good else "reject", "event")
        if detail.erased:
            chip("erased", "warn", "event-erased")
    given = {
        "at": clock(detail.at),
        "version": str(detail.version),
        "lane": detail.lane,
        "effect": detail.effect,
        "authority": detail.authority,
        "tool": detail.tool,
        "link": detail.link[:16],
    }
    with st.container(key="event-facts", horizontal=True):
        for name, value in given.items():
            if value:
                fact(name, inline(value, 80), f"event-{name}")


def _prompt(reader: Reader, episode: str, seq: int) -> None:
    """Draw the exact messages that the model was sent, the latest page of them first; no other page is read."""
    total = reader.messages(episode, seq, slice(0, 0)).total
    _label(f"Prompt: {total} messages", "prompt")
    count = -(-total // MESSAGES)
    page = st.pagination(count, default=count, key="prompt-page") if count > 1 else 1
    first = (page - 1) * MESSAGES
    for number, message in enumerate(reader.messages(episode, seq, slice(first, first + MESSAGES)).messages, first):
        with st.container(key=f"message-{number}", gap=None):
            answers = f"  ·  answers {inline(message.call_id, 40)}" if message.call_id else ""
            st.text(f"{number + 1}  {inline(message.role, 20)}{answers}")
            calls = [f"{call.id}  {call.name} {call.arguments}" for call in message.calls]
            st.code(
                block("\n".join(part for part in (message.content, *calls) if part)), language=None, wrap_lines=True
            )


def _raw(body: Json) -> None:
    raw = body.get("raw") if isinstance(body, dict) else None
    if isinstance(raw, str) and raw:
        _label("Verdict as the model wrote it", "raw")
        st.code(block(raw), language=None, wrap_lines=True)


def _body(detail: EventDetail, body: Json) -> None:
    _label("Body", "body")
    if detail.erased:
        by = f" On record: {inline(record_words(detail.erasure), 400)}." if detail.erasure is not None else ""
        st.text(f"The body was erased; header and link still prove that the event was there.{by}")
        return
    long: list[LongText] = []
    text = json.dumps(_cut(body, "", long), indent=2, ensure_ascii=False)
    st.code(block(text, BODY), language="json", wrap_lines=True)
    for number, one in enumerate(long[:DOWNLOADS]):
        _offer(detail.episode, detail.seq, one, number)
    if len(long) > DOWNLOADS:
        st.text(f"{len(long) - DOWNLOADS} more long texts: download the whole event.")
    st.download_button(
        "Download the event as JSON",
        data=lambda: _whole(detail.episode, detail.seq),
        file_name=f"{_file(detail.episode)}-{detail.seq}.json",
        mime="application/json",
        key="download-event",
        type="tertiary",
        on_click="ignore",
    )


def _offer(episode: str, seq: int, one: LongText, number: int) -> None:
    with st.container(key=f"long-{number}", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            st.text(f"{inline(one.path, 80)}  ·  {len(one.text):,} characters, the first {LONG:,} are shown above")
            st.text(text_digest(one.text))
        st.download_button(
            "Download",
            data=lambda: _long(episode, seq, number),
            file_name=f"{_file(episode)}-{seq}-{number}.txt",
            mime="application/octet-stream",
            key=f"download-{number}",
            type="tertiary",
            on_click="ignore",
        )


def _whole(episode: str, seq: int) -> bytes:
    """Read the event again when its download is asked for: until then the page keeps no copy of it."""
    with source.reader() as reader:
        return reader.event(episode, seq).body.encode("utf-8", "surrogatepass")


def _long(episode: str, seq: int, number: int) -> bytes:
    """Return a long text as its exact bytes: of an output that is no UTF-8 those printed; half a pair as WTF-8."""
    with source.reader() as reader:
        detail = reader.event(episode, seq)
    body: Json = json.loads(detail.body)
    long: list[LongText] = []
    _cut(_without(body, "messages") if detail.type == "generate.requested" else body, "", long)
    return text_bytes(long[number].text)[0]


def _cut(value: Json, path: str, long: list[LongText]) -> Json:
    """Return the value with long texts cut; collect these."""
    match value:
        case str() if len(value) > LONG:
            long.append(LongText(path, value))
            return f"{value[:LONG]}… (+{len(value) - LONG:,} characters)"
        case list():
            return [_cut(item, f"{path}[{number}]", long) for number, item in enumerate(value)]
        case dict():
            return {name: _cut(item, f"{path}.{name}" if path else name, long) for name, item in value.items()}
        case _:
            return value


def _without(body: Json, name: str) -> Json:
    return {key: value for key, value in body.items() if key != name} if isinstance(body, dict) else body


def _file(episode: str) -> str:
    return "".join(character if character.isalnum() and character.isascii() else "-" for character in episode)


def _label(text: str, where: str) -> None:
    with st.container(key=f"label-{where}"):
        st.text(text)
