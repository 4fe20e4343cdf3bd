"""What a failed HTTP attempt means: the kind of ModelFailed, the words for the user, and whether to try again.

The kinds are listed in `errors.ModelFailed`. Trouble of the provider (unreachable, busy, server, timeout) may pass by
itself; a refusal would come again, to this call and mostly to any other. Both stop a batch where nothing is answered
between. A prompt that does not fit, and a reply that breaks the API, are about this call alone.
"""

import openai

from spectrace.models import chat
from spectrace.models.keys import Endpoint, default_variable

_AGAIN = frozenset({408, 409, 429})
_REDIRECT = range(300, 400)
_CLIENT = range(400, 500)
_TOO_MANY = 429
_TOO_SLOW = 408
_PAY = 402
_LONGEST = 500


class Failure(Exception):
    """One attempt failed."""

    def __init__(  # noqa: PLR0913 - what is known of a failure, each by name
        self,
        kind: str,
        message: str,
        *,
        again: bool = False,
        wait_s: float | None = None,
        status: int | None = None,
        partial_text: str = "",
    ) -> None:
        """Keep the ModelFailed kind, the words, and whether another attempt may help, perhaps after a time."""
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.again = again
        self.wait_s = wait_s
        self.status = status
        self.partial_text = partial_text


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
            return too_slow(model, to)
        case openai.APIConnectionError():
            return _unreachable(to.scrub(str(error.__cause__ or error)), model, url)
        case _:
            return Failure("invalid", f"The reply of {url} cannot be read: {cut(to.scrub(str(error)))}.")


def too_slow(model: str, to: Endpoint, *, begun: bool = False) -> Failure:
    """Return what a time limit means: no answer at all, or a stream that stopped or went on for ever."""
    what = "did not finish its answer" if begun else "did not answer"
    said = f"The model {model!r} at {to.url} {what} in time. Give it a longer timeout_s, or see what it does."
    return Failure("timeout", said)


def said_error(words: str, model: str, to: Endpoint, partial_text: str = "") -> Failure:
    """Return what an error means that came under status 200, whole or inside a stream."""
    kind = "context" if chat.says_context(words) else "server"
    said = f"{to.url} answered 200 with an error for the model {model!r}: {cut(to.scrub(words))}"
    return Failure(kind, said, partial_text=partial_text)


def broken_off(error: Exception, model: str, to: Endpoint, partial_text: str = "") -> Failure:
    """Return what it means that the connection ended inside an answer; another attempt may get it whole."""
    why = cut(to.scrub(str(error) or type(error).__name__))
    said = f"The answer of the model {model!r} at {to.url} broke off ({why})."
    return Failure("server", said, again=True, partial_text=partial_text)


def broken_reply(error: Exception, body: str, to: Endpoint, partial_text: str = "") -> Failure:
    """Return what a body means that is no reply of its dialect."""
    begins = cut(to.scrub(body), 120)
    said = f"The reply of {to.url} is no chat completion: {error}. It begins {begins!r}."
    return Failure("invalid", said, partial_text=partial_text)


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
        said += f" {_key_words(to)}"
    elif status == _PAY:
        said += " The account of this key has no credit left: top it up, or name another key."
    elif status == _TOO_MANY:
        said += " It is asked too often: wait, or lower --concurrency."
    kind = {_TOO_MANY: "busy", _TOO_SLOW: "timeout"}.get(status, "refused")
    return Failure(kind, said, again=status in _AGAIN, wait_s=_retry_after(error), status=status)


def _key_words(to: Endpoint) -> str:
    variable = default_variable(to.url)
    if to.authorization is None:
        own = "" if variable is None else f"set {variable}, or "
        return f"No key was sent: {own}name one with key_env or key_file of this model in spectrace.toml."
    own = "" if variable is None else f", or {variable} where it names none"
    return f"The key that was sent is not accepted: see key_env or key_file of this model in spectrace.toml{own}."


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds that the server asks for; a date in their place is not worth a parser."""
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return None
