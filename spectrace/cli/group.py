"""The command group: commands load when they are named, and every error ends here, as one paragraph and an exit code.

Exit codes: 0 done; 1 the answer is no, or something failed; 2 usage or bad input; 3 unknown; 125 cannot be tested;
130 interrupted; 141 nobody reads the output any more. SPECTRACE_DEBUG=1 shows tracebacks.
"""

import errno
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TextIO

import click

from spectrace import __version__
from spectrace.cli import console
from spectrace.cli.messages import without_secrets
from spectrace.errors import Conflict, SpectraceError, StoreError, Unsettled, Untestable, UsageError

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "init": "init",
        "run": "run",
        "ls": "ls",
        "show": "show",
        "why": "why",
        "rejections": "rejections",
        "cost": "cost",
        "replay": "replay",
        "fork": "fork",
        "resume": "resume",
        "recover": "recover",
        "reverify": "reverify",
        "worker": "worker",
        "runs": "runs",
        "compare": "compare",
        "audit": "audit",
        "verify": "verify",
        "checkpoint": "checkpoint",
        "erase": "erase",
        "scan-secrets": "scan_secrets",
        "import": "import_",
        "export": "export",
        "pack": "pack",
        "unpack": "unpack",
        "db": "db",
        "schema": "schema",
        "conformance": "conformance",
        "doctor": "doctor",
        "demo": "demo",
        "view": "view",
    }
)
"""Command -> its module beside this file, in the order of `--help`."""

_OUTPUT = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF})
"""What a write to a full disk, or to a stream that takes none, fails with; it names no file."""
_USAGE, _FAILED, _UNKNOWN, _UNTESTABLE, _INTERRUPTED, _BROKEN_PIPE = 2, 1, 3, 125, 130, 141


class Commands(click.Group):
    """A group whose commands are imported when they are asked for: `--version` and `ls` load no model SDK."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in their order."""
        del ctx
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole sentence, folded, never cut."""
        rows = [(name, command) for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))]
        with formatter.section("Commands"):
            formatter.write_dl([(name, (command.help or "").strip().splitlines()[0]) for name, command in rows])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"spectrace.cli.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command

    def main(  # type: ignore[override]  # click's is generic over `standalone_mode`; here errors end the same way always
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run and exit with the command's code."""
        extra.pop("standalone_mode", None)
        name = prog_name or "spectrace"
        code = 0
        try:
            _open_streams()
            _lenient(sys.stdout, sys.stderr)
            self._main_shell_completion(extra, name, complete_var)
            with (
                _warnings_shown(),
                self.make_context(name, list(sys.argv[1:] if args is None else args), **extra) as context,
            ):
                self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as done:
            code = done.exit_code
            sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort):
            console.say("Interrupted.")
            code = _INTERRUPTED
        except BrokenPipeError:
            _discard_output()  # whoever read it has gone (`| head`): say nothing
            code = _BROKEN_PIPE
        except click.ClickException as error:
            told = io.StringIO()
            error.show(told)
            click.echo(without_secrets(told.getvalue()), err=True, nl=False)
            code = error.exit_code
        except SpectraceError as error:
            _explain(str(error))
            code = exit_code(error)
        except OSError as error:
            _explain(_system(error))
            code = _FAILED
        except Exception as error:  # noqa: BLE001 - the last net: nobody should meet a traceback unasked
            _explain(
                f"Something went wrong inside spectrace: {type(error).__name__}: {error}. This is a bug. "
                "Run it again with SPECTRACE_DEBUG=1 to see where, and report that."
            )
            code = _FAILED
        sys.exit(code)


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """Show a warning (a file system without write-ahead logging) as a paragraph, not as a line of our source."""
    with warnings.catch_warnings():
        # What SQLAlchemy remarks of a transaction that Ctrl-C cut short is no news.
        warnings.filterwarnings("ignore", "transaction already deassociated", RuntimeWarning)
        warnings.showwarning = lambda message, *_, **__: console.say(f"Warning: {message}", style="warning")
        yield


def _discard_output() -> None:
    """Keep Python from flushing once more, at its end, into what takes no output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Give a stream that the caller closed (`>&-`) the null device: its number must not become a database's file."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The least free number is what open returns: this one, as those below it are open by now.
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end of the process


def _system(error: OSError) -> str:
    """Say what the system refused: a full disk, a directory that is gone. No bug of ours, and not the user's input."""
    if _directory_is_gone():
        return "the working directory no longer exists: change to another."
    why = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {why}."
    if error.errno in _OUTPUT:
        _discard_output()
        return f"the output cannot be written: {why}."
    return f"the system refused: {why}."


def _directory_is_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def exit_code(error: SpectraceError) -> int:
    """Return the exit code of a deliberate error (drawn in `errors.py`)."""
    match error:
        case Untestable():
            return _UNTESTABLE
        case Unsettled():
            return _UNKNOWN
        case Conflict():
            return _FAILED
        case UsageError() | StoreError():
            return _USAGE
        case _:
            return _FAILED


def _explain(text: str) -> None:
    if os.environ.get("SPECTRACE_DEBUG", "") not in {"", "0"}:
        console.traceback()
    console.say(f"Error: {text}", style="error", lines=True)


def _lenient(*streams: TextIO) -> None:
    """Let a terminal that cannot show a character show its escape instead of failing."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="spectrace")
def main() -> None:
    """Record, replay, re-verify and audit agents whose steps a weak model drafts and a strong model reviews."""
