import pytest

from spectrace.cli import console
from spectrace.cli.console import Column

HOSTILE = "\x1b]0;owned\x07[red]x[/red] \u202egnp.exe :smile: \x9b2J"
SHOWN = "\\x1b]0;owned\\x07[red]x[/red] \\u202egnp.exe :smile: \\x9b2J"


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.parametrize(
    "write",
    [
        lambda: console.line(HOSTILE),
        lambda: console.line((HOSTILE, "error"), indent=4),
        lambda: console.block(HOSTILE),
        lambda: console.rule(HOSTILE),
        lambda: console.table([Column("a"), Column("b", flex=20)], [[HOSTILE, None]], ""),
        lambda: console.table([Column("a")], [[(HOSTILE, "name")]], ""),
        lambda: console.table([Column("a")], [], HOSTILE),
    ],
)
def test_hostile_text_comes_out_literally(write, capsys):
    write()

    assert SHOWN in capsys.readouterr().out


def test_a_message_is_shown_literally_too(capsys):
    console.say(HOSTILE, style="error")

    assert SHOWN in capsys.readouterr().err


def test_a_line_break_in_a_name_does_not_break_a_message(capsys):
    console.say("run a\nb ends")
    with console.progress() as progress:
        progress.note("task a\nb begins")

    assert capsys.readouterr().err == "run a⏎b ends\ntask a⏎b begins\n"


def test_line_breaks_of_our_own_stand_and_nothing_else_does(capsys):
    console.say("paste:\n\nx\x1b = 1", lines=True)

    assert capsys.readouterr().err == "paste:\n\nx\\x1b = 1\n"


def test_what_several_episodes_lost_is_said_once(capsys):
    console.losses([("e1", "verdicts"), ("e1", "times"), ("e2", "verdicts")])

    assert capsys.readouterr().err == "2 episodes: verdicts\ne1: times\n"


WIDE = [
    Column("id"),
    Column("low", rank=2),
    Column("high", rank=1),
    Column("words", flex=10),
]


@pytest.mark.parametrize("width", range(40, 201, 8))
def test_no_row_is_wider_than_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    console.table(WIDE, [["0123456789abcdef", "x" * 20, "y" * 20, "many words " * 20]], "")

    assert max(len(row) for row in capsys.readouterr().out.splitlines()) <= width


def test_what_does_not_fit_is_left_out_by_rank_and_said(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "54")
    console.table(WIDE, [["0123456789abcdef", "x" * 20, "y" * 20, "w" * 10]], "")
    said = capsys.readouterr()

    assert ("y" * 20 in said.out, "x" * 20 in said.out) == (True, False)
    assert said.err == "Not shown at this width: low. A wider terminal or --json shows all.\n"


def test_free_text_is_folded_whole(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    console.table(WIDE, [["0123456789abcdef", None, None, "z" * 300]], "")

    assert capsys.readouterr().out.count("z") == 300


def test_a_name_too_long_for_the_terminal_is_folded_whole_too(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    console.table([Column("run"), Column("words", flex=10)], [["x" * 150, "y" * 20]], "")
    shown = capsys.readouterr().out

    assert (shown.count("x"), shown.count("y")) == (150, 20)


def test_a_head_is_broken_between_words_and_never_within_one(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "44")
    heads = ["", "weak calls", "speculative-actions", "agent"]
    console.table([Column(head, right=True) for head in heads], [["some name", "1", "2", "3"]], "")

    assert capsys.readouterr().out.splitlines()[:2] == [
        "                       speculative-",
        "           weak calls       actions  agent",
    ]


def test_a_column_stays_as_long_as_it_alone_tells_rows_apart(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "28")
    columns = [Column("phase"), Column("who", rank=4), Column("input", right=True, rank=3), Column("out", right=True)]
    console.table(columns, [["act", "weak", "1" * 8, "2" * 8], ["act", "strong", "1" * 8, "2" * 8]], "")
    said = capsys.readouterr()

    assert ("weak" in said.out, "strong" in said.out) == (True, True)
    assert said.err.startswith("Not shown at this width: input.")


def test_a_column_that_tells_rows_apart_goes_where_nothing_else_can(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "20")
    console.table([Column("phase"), Column("who", rank=4)], [["act" * 5, "weak"], ["act" * 5, "strong"]], "")

    assert capsys.readouterr().err.startswith("Not shown at this width: who.")


def test_a_column_that_says_nothing_is_left_out_quietly(capsys):
    console.table(WIDE, [["0123456789abcdef", None, None, "w"]], "")
    said = capsys.readouterr()

    assert ("low" in said.out, said.err) == (False, "")


def test_a_pipe_gets_whole_lines(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS")
    console.line("word " * 100)

    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_block_keeps_its_lines_and_its_indent(capsys):
    console.block("one\ntwo\n\nthree", indent=2)

    assert capsys.readouterr().out == "  one\n  two\n\n  three\n"


def test_unknown_is_a_dash_and_zero_is_zero(capsys):
    console.table([Column("a"), Column("b")], [[None, 0]], "")

    assert capsys.readouterr().out.splitlines()[-1].split() == ["-", "0"]


def test_times_are_utc_iso():
    assert console.iso(1_764_504_000_000_001) == "2025-11-30T12:00:00.000001Z"
    assert console.iso_seconds(1_764_504_000_999_999) == "2025-11-30T12:00:00Z"
    assert (console.iso(None), console.iso_seconds(None)) == (None, None)


def test_progress_writes_only_notes_where_nobody_watches(capsys):
    with console.progress() as progress:
        progress.show("a", "moving")
        progress.note("lasting")
        progress.drop("a")
    said = capsys.readouterr()

    assert (said.out, said.err) == ("", "lasting\n")


def test_what_is_folded_hangs_further_in(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "24")
    console.line("one two three four five six", indent=1, hang=3)

    assert capsys.readouterr().out == " one two three four\n    five six\n"
