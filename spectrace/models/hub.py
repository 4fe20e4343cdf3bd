"""The Hugging Face hub, asked for one file without any library of its own, and given up on after a few seconds."""

import os
import queue
import threading
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPResponse

from spectrace.models.catalogue import Entry

_HUB = "https://huggingface.co"
_GIVE_UP_S = 5.0


class HubUnavailable(Exception):
    """The hub did not answer, or refused; the text says which."""


def open_hub(entry: Entry, offset: int) -> HTTPResponse:
    """Return the response to a request for the file from `offset` on, or raise within a few seconds.

    HF_ENDPOINT names another hub, HF_HUB_OFFLINE forbids asking, as they do for the hub's own library.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise HubUnavailable("HF_HUB_OFFLINE is set")
    base = os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")
    if not base.startswith(("https://", "http://")):
        raise HubUnavailable(f"HF_ENDPOINT is no URL: {base[:80]!r}")
    request = urllib.request.Request(f"{base}/{entry.repository}/resolve/{entry.revision}/{entry.file}")  # noqa: S310 - http(s) only, checked above
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    answers: queue.Queue[HTTPResponse | Exception] = queue.Queue()
    # A thread, because a time limit of a socket bounds neither the look-up of the name nor a list of addresses.
    threading.Thread(target=_open, args=(request, answers), daemon=True).start()
    try:
        answer = answers.get(timeout=_GIVE_UP_S)
    except queue.Empty:
        raise HubUnavailable(f"no answer within {_GIVE_UP_S:.0f} s") from None
    if isinstance(answer, Exception):
        raise HubUnavailable(str(answer)) from answer
    return answer


def _open(request: urllib.request.Request, answers: "queue.Queue[HTTPResponse | Exception]") -> None:
    try:
        answers.put(urllib.request.urlopen(request, timeout=_GIVE_UP_S))  # noqa: S310 - http(s) only, checked by the caller
    except urllib.error.HTTPError as error:
        error.close()
        answers.put(error)
    except (OSError, HTTPException, ValueError) as error:
        answers.put(error)
