"""Run command lines in this process and note whatever they import, open, contact or start. A program of its own.

Audit hooks see it below Python's own functions, and cannot be taken away again: so each use is a process. It reads a
JSON list of command lines from stdin; it writes what each said and did, as JSON, to the file that its argument names.
"""

import json
import sys
from pathlib import Path

NOTED = {
    *("import", "open", "sqlite3.connect", "socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen"),
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "exec", "compile", "os.remove", "os.rename", "os.mkdir"),
    *("urllib.Request", "ctypes.dlopen", "webbrowser.open", "socket.sendto", "os.spawn", "pty.spawn"),
    *("os.listdir", "os.scandir", "os.chdir", "os.symlink", "os.link", "shutil.copyfile", "pickle.find_class"),
}
_QUIET = {"exec", "compile"}


def main() -> None:
    """Run the lines."""
    from click.testing import CliRunner

    from spectrace.cli import main as spectrace

    did: list[list[str]] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in NOTED - _QUIET:
            did.append([event, *(str(one)[:300] for one in arguments[:2])])

    lines = json.load(sys.stdin)
    target = Path(sys.argv[1]).open("w")  # noqa: SIM115 - before the hook
    sys.addaudithook(hook)
    told = []
    for line in lines:
        did.clear()
        done = CliRunner().invoke(spectrace, line, prog_name="spectrace")
        told.append(
            {
                "line": line,
                "code": done.exit_code,
                "stdout": done.stdout_bytes.decode("utf-8", "surrogateescape"),
                "stderr": done.stderr_bytes.decode("utf-8", "surrogateescape"),
                "did": list(did),
            }
        )
    json.dump(told, target)
    target.close()


if __name__ == "__main__":
    main()
