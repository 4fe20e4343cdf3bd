"""The README's generated sections: every command with its help, every rule of the audit. `make readme` rewrites them.

A test says when they are stale.

Options that many commands share (the filters, --db, --json) stand there once.
"""

from pathlib import Path

import click

from spectrace.audit.rules import RULES
from spectrace.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- commands: written by `make readme` -->\n", "<!-- end of commands -->\n"
RULES_BEGIN, RULES_END = "<!-- rules: written by `make readme` -->\n", "<!-- end of rules -->\n"
WIDTH = 100
FILTERS = "ls"
"""The command whose options, as far as others have them too, are the filters."""
COMMON = {"as_json", "db"}


def generated() -> str:
    """Return what stands between the markers."""
    commands = dict(walk(main, "spectrace"))
    filters = shared_options(commands)
    blocks = "\n".join(block(name, command, filters) for name, command in commands.items())
    common = formatted(commands[f"spectrace {FILTERS}"], filters | COMMON)
    return f"```text\n{blocks}```\n\nThe filters, and two options of nearly every command:\n\n```text\n{common}```\n"


def walk(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    """Return every command below a group with its full name, in the order of --help."""
    if not isinstance(command, click.Group):
        return [(name, command)]
    context = click.Context(command, info_name=name)
    found = ((child, command.get_command(context, child)) for child in command.list_commands(context))
    return [pair for child, below in found if below is not None for pair in walk(below, f"{name} {child}")]


def shared_options(commands: dict[str, click.Command]) -> set[str]:
    """Return the names of the filters: options of `ls` that `verify` has too."""
    names = [{param.name for param in commands[f"spectrace {name}"].params} for name in (FILTERS, "verify")]
    return set.intersection(*names) - COMMON


def block(name: str, command: click.Command, filters: set[str]) -> str:
    """Return a command's usage, its sentence, and the options of its own."""
    own = {param.name for param in command.params}
    filtered = filters <= own
    arguments = command.collect_usage_pieces(click.Context(command, info_name=name))[1:]
    usage = " ".join([name, *arguments, *(["[FILTERS]"] if filtered else [])])
    options = formatted(command, own - COMMON - (filters if filtered else set()))
    return f"{usage}\n  {(command.help or '').splitlines()[0]}\n{options}"


def formatted(command: click.Command, wanted: set[str]) -> str:
    """Return the help of these options of a command."""
    context = click.Context(command, info_name="", terminal_width=WIDTH)
    options = [param for param in command.params if isinstance(param, click.Option) and param.name in wanted]
    rows = [record for option in options if (record := option.get_help_record(context)) is not None]
    formatter = click.HelpFormatter(width=WIDTH)
    formatter.indent()
    formatter.indent()
    if rows:
        formatter.write_dl(rows)
    return formatter.getvalue()


def listed_rules() -> str:
    """Return the rules of the audit as a table."""
    rows = (f"| `{rule.id}` | {rule.severity} | {rule.sentence} |\n" for rule in RULES.values())
    return f"| rule | severity | what holds |\n|---|---|---|\n{''.join(rows)}"


def rewritten(text: str) -> str:
    """Return the README with its generated sections as they should be."""
    text = _replaced(text, BEGIN, END, generated())
    return _replaced(text, RULES_BEGIN, RULES_END, listed_rules())


def _replaced(text: str, begin: str, end: str, section: str) -> str:
    before, marker, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{section}\n{end}{after}" if marker else text


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text()))
