"""`run --help` explains every option of every protocol."""

import click

from spectrace.cli import main
from spectrace.cli.option_help import rows
from spectrace.core.options import OPTIONS


def help_text() -> str:
    context = click.Context(main, info_name="spectrace")
    command = main.get_command(context, "run")
    return command.get_help(click.Context(command, info_name="run", parent=context, terminal_width=100))


def test_run_explains_every_option_with_its_values():
    text = help_text()

    assert [name for name in OPTIONS if f"  {name}=" not in text] == []
    assert "acceptance=semantic|exact" in text


def test_an_option_says_what_the_paper_measured():
    assert "FLOPs +70 %" in " ".join(help_text().split())


def test_every_option_shows_its_default():
    forms = [form for form, _ in rows()]

    assert [form for form in forms if "|" not in form and "[" not in form] == []
    assert {"max_unreviewed=N [none]", "threshold=X [0.5]", "max_steps=N [60]", "max_cost_usd=X [none]"} <= set(forms)
