"""What a failed HTTP attempt means: the kind of ModelFailed, the words for the user, and whether to try again."""

import openai

from spectrace.models import chat
from spectrace.models.keys import Endpoint

_AGAIN = frozenset({408, 409, 429})
_REDIRECT = range(300, 400)
_CLIENT = range(400, 500)
_TOO_MANY = 429
_LONGEST = 500


class Failure(Exception):
    """One attempt failed."""

    def __init__(
        self, kind: str, message: str, *, again: bool = False, wait_s: float | None = None, status: int | None = None
    ) -> None:
        """Keep the ModelFailed kind, the words, and whether another attempt may help, perhaps after a time."""
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.again = again
        self.wait_s = wait_s
        self.status = status


def cut(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, at most so long; what is left out is counted."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}... ({len(line) - longest} more characters)"


def failure_of(error: openai.APIError | TimeoutError, model: str, to: Endpoint) -> Failure:
    """Return what an SDK error means for the model at an endpoint. Credentials go before a text is cut, not after."""
    url = to.url
    match error:
        case openai.APIStatusError():
            return _status(error, model, to)
        case openai.APITimeoutError() if "Connect" in type(error.__cause__).__name__:
            return _unreachable("connecting took too long", model, url)
        case openai.APITimeoutError() | TimeoutError():
            said = (
                f"The model {model!r} at {url} did not answer in time. Give it a longer timeout_s, or see what it does."
            )
            return Failure("timeout", said)
        case openai.APIConnectionError():
            return _unreachable(to.scrub(str(error.__cause__ or error)), model, url)
        case _:
            return Failure("invalid", f"The reply of {url} cannot be read: {cut(to.scrub(str(error)))}.")


def _unreachable(reason: str, model: str, url: str) -> Failure:
    said = (
        f"No model server answers at {url} ({cut(reason)}). "
        f"Start the server, or check the URL that the model {model!r} names."
    )
    return Failure("unreachable", said, again=True)


def _status(error: openai.APIStatusError, model: str, to: Endpoint) -> Failure:
    status, url = error.status_code, to.url
    try:
        words = chat.error_text(chat.read_object(error.response.text))
    except chat.InvalidReply:
        words = None
    words = cut(to.scrub(words or error.response.text or "no message"))
    said = f"{url} answered {status} to a call of the model {model!r}: {words.rstrip('.')}."
    if status in _REDIRECT:
        said = f"{url} redirects elsewhere ({status}), which is not followed. Name the final URL if you trust it."
        return Failure("refused", said, status=status)
    if status not in _CLIENT:
        said += " The server itself failed: look into its log, and try again when it is well."
        return Failure("server", said, again=True, wait_s=_retry_after(error), status=status)
    if chat.says_context(words):
        return Failure("context", said, status=status)
    if status in {401, 403}:
        said += (
            " The key that was sent is not accepted: see key_env or key_file of this model in spectrace.toml."
            if to.authorization is not None
            else " No key was sent: name one with key_env or key_file of this model in spectrace.toml."
        )
    elif status == _TOO_MANY:
        said += " It is asked too often: wait, or lower --concurrency."
    return Failure("refused", said, again=status in _AGAIN, wait_s=_retry_after(error), status=status)


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds that the server asks for; a date in their place is not worth a parser."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None
