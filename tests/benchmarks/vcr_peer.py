"""vcrpy over the questions of recorded episodes: runs in the peer's own environment, imports nothing of spectrace.

    vcr_peer.py record|replay QUESTIONS.json FOLDER yaml|json

QUESTIONS.json holds a list of episodes, each a list of [uri, body, answer]. `record` makes a cassette an episode
against a server on this machine; `replay` answers every question from them and prints {"n": ..., "t": ...}. As in
../shared/bench's m4_lg: loading a cassette counts, mode none, matched by method, uri and body.
"""

import http.server
import json
import logging
import pathlib
import sys
import threading
import time

import requests
import vcr

PORT_IN_CASSETTES = 8799
"""Part of every recorded address, so the server needs the same one again; nothing else listens there in a benchmark."""


def main() -> None:
    logging.disable(logging.CRITICAL)
    what, questions, folder, serializer = sys.argv[1:]
    episodes = json.loads(pathlib.Path(questions).read_text(encoding="utf-8"))
    if what == "record":
        server = serve(episodes)
        run(episodes, pathlib.Path(folder), serializer, "new_episodes")
        server.shutdown()
    else:
        begun = time.perf_counter()
        asked = run(episodes, pathlib.Path(folder), serializer, "none")
        print(json.dumps({"n": asked, "t": time.perf_counter() - begun}))


def run(episodes: list, folder: pathlib.Path, serializer: str, mode: str) -> int:
    asked = 0
    for number, episode in enumerate(episodes):
        recorder = vcr.VCR(serializer=serializer, record_mode=mode, match_on=["method", "uri", "body"])
        with recorder.use_cassette(str(folder / f"{number}.{serializer}")), requests.Session() as session:
            for at, (uri, body, answer) in enumerate(episode):
                headers = {"Content-Type": "application/json", "X-Question": f"{number}/{at}"}
                told = session.post(f"http://127.0.0.1:{PORT_IN_CASSETTES}{uri}", data=body.encode(), headers=headers)
                if told.status_code != 200 or told.text != answer:
                    raise SystemExit(f"question {number}/{at} was answered otherwise: {told.status_code}")
                asked += 1
    return asked


def serve(episodes: list) -> http.server.ThreadingHTTPServer:
    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            number, at = map(int, self.headers["X-Question"].split("/"))
            answer = episodes[number][at][2].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT_IN_CASSETTES), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    main()
