"""The protocols' own options in `run --help`: what each takes, does, and what the paper measured of it."""

import click

from spectrace.core.options import OPTIONS, Option, types_of
from spectrace.core.protocols import PROTOCOLS


class ExplainsOptions(click.Command):
    """A command whose help ends with the options that `-o` takes."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section of options; an option that not every protocol has names those that do."""
        del ctx
        with formatter.section("Options of a protocol (-o KEY=VALUE; [default]; of several values it is the first)"):
            formatter.write_dl(rows())


def rows() -> list[tuple[str, str]]:
    """Return (name and values, what it does) of every option, in the order of the table."""
    return [(f"{name}={_form(name, option)}", _text(name, option)) for name, option in OPTIONS.items()]


def _form(name: str, option: Option) -> str:
    if option.values:
        return "|".join(option.values)
    default = _default(name)
    return f"{'X' if option.high is not None else 'N'} [{'none' if default is None else default}]"


def _default(name: str) -> object:
    """Return the default of the first protocol that has the option."""
    return next(getattr(protocol(), name) for protocol in PROTOCOLS.values() if name in types_of(protocol))


def _text(name: str, option: Option) -> str:
    having = [protocol for protocol, made in PROTOCOLS.items() if name in types_of(made)]
    only = "" if len(having) == len(PROTOCOLS) else f"[{', '.join(having)}] "
    paper = f" Paper: {option.seeds}." if option.seeds else ""
    return f"{only}{option.does}.{paper}"
