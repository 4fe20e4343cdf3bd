"""A real HTTP server on this machine that answers as it is told and keeps what it was sent."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """One HTTP answer; a body that is not text is sent as JSON."""

    body: object = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    delay_s: float = 0.0
    pieces: list[str] | None = None
    """Sent in place of the body, one by one, as an event stream."""
    pause_s: float = 0.0
    """Before each piece but the first."""
    cut: bool = False
    """The connection breaks after the last piece."""


@dataclass
class Received:
    """One HTTP request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)


@dataclass
class ModelServer:
    """Answers are taken in order for each path; the last one stays. An unknown path answers 404."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def on(self, path: str, *answers: Answer | object) -> "ModelServer":
        self.answers[path] = [answer if isinstance(answer, Answer) else Answer(answer) for answer in answers]
        return self

    def chat(self, *answers: Answer | object) -> "ModelServer":
        return self.on("/v1/chat/completions", *answers)

    def next(self, path: str) -> Answer:
        waiting = self.answers.get(path)
        if not waiting:
            return Answer({"detail": "Not Found"}, 404)
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            server.received.append(Received(self.command, self.path, headers, body))
            answer = server.next(self.path.partition("?")[0])
            if answer.delay_s:
                server.released.wait(answer.delay_s)
            if answer.hang_up:
                self.close_connection = True
                return
            if answer.pieces is not None:
                self.stream(answer, answer.pieces)
                return
            data = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def stream(self, answer: Answer, pieces: list[str]) -> None:
            self.send_response(answer.status)
            for name, value in {"content-type": "text/event-stream", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for number, piece in enumerate(pieces):
                if number and answer.pause_s:
                    server.released.wait(answer.pause_s)
                data = piece.encode()
                try:
                    self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                except OSError:  # the client had enough
                    self.close_connection = True
                    return
            if answer.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        do_GET = answer  # noqa: N815 - the name that http.server looks for
        do_POST = answer  # noqa: N815 - the same

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    return Handler


@contextmanager
def model_server(server: ModelServer | None = None) -> Iterator[ModelServer]:
    """Serve on a free port until the block ends."""
    server = server or ModelServer(url="")
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        http.server_close()
        thread.join()


def completion(content: str | None = "hello", **message: object) -> dict[str, object]:
    """Return a chat completion in OpenAI's own shape."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1796038935,
        "model": "little-1",
        "system_fingerprint": "fp_7",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "total_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
    }


def chunks(*deltas: dict[str, object], finish: str | None = "stop", done: bool = True) -> list[str]:
    """Return a streamed chat completion in OpenAI's own shape, one piece an event, its usage in the last chunk."""
    top = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1796038935, "model": "little-1"}
    choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    if finish is not None:
        choices.append([{"index": 0, "delta": {}, "finish_reason": finish}])
    bodies: list[dict[str, object]] = [{**top, "choices": choice} for choice in choices]
    if finish is not None:
        bodies.append({**top, "choices": [], "usage": completion()["usage"]})
    return [f"data: {json.dumps(body)}\n\n" for body in bodies] + (["data: [DONE]\n\n"] if done else [])
