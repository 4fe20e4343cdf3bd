"""A wire to Postgres that carries so many bytes from the client, calls somebody, and is cut."""

import os
import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

_CHUNK = 1 << 16


class Wire:
    """Listens in `folder` where the server's socket would be; `limit` 0 never cuts."""

    def __init__(self, url: str, folder: Path, limit: int = 0, cut: Callable[[], None] = lambda: None) -> None:
        parsed = sa.make_url(url)
        host, port = str(parsed.query.get("host") or parsed.host), parsed.port or 5432
        name = f".s.PGSQL.{port}"
        self._server = Path(host) / name
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / name))
        self._listener.listen()
        self._limit, self._cut = limit, cut
        self.carried = 0
        """Bytes from the client, of all its connections."""
        self._turn = threading.Lock()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        self.url = _through(parsed, folder, port)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            thread = threading.Thread(target=self._carry, args=(client, server), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _carry(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for source, target in ((client, server), (server, client)):
                    if source in ready and not self._pass(source, target, counted=source is client):
                        return

    def _pass(self, source: socket.socket, target: socket.socket, *, counted: bool) -> bool:
        """Carry what is there; return whether to go on."""
        try:
            data = source.recv(_CHUNK)
            if not counted:
                target.sendall(data)
                return bool(data)
            with self._turn:
                if self._limit and self.carried + len(data) >= self._limit:
                    target.sendall(data[: self._limit - self.carried])
                    self._limit = 0
                    self._cut()
                    return False
                self.carried += len(data)
            target.sendall(data)
        except OSError:  # the other side has gone
            return False
        return bool(data)


def _through(url: sa.URL, folder: Path, port: int) -> str:
    through = url.difference_update_query(["host"]).set(host=None, port=None)
    return through.update_query_dict({"host": str(folder), "port": str(port)}).render_as_string(hide_password=False)


def folder_for_sockets(base: str) -> Path:
    """Make a folder with a short name: a socket's path has at most 107 bytes."""
    path = Path(base)
    path.mkdir(mode=0o700)
    os.chmod(path, 0o755)  # noqa: PTH101, S103 - the server's user is another
    return path
