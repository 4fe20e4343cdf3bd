import csv
import io

import pytest

from spectrace.cli.grids import csv_text, latex, latex_text, markdown, markdown_text

HOSTILE = '=HYPERLINK("http://x","y")'


def test_recorded_text_is_no_formula_and_numbers_stay_numbers():
    text = csv_text(["a", "b"], [[HOSTILE, -0.5], ["@x", None], ["\t+1", 3], ['a,"b', 1]])

    assert list(csv.reader(io.StringIO(text))) == [
        ["a", "b"],
        [f"'{HOSTILE}", "-0.5"],
        ["'@x", ""],
        ["\\t+1", "3"],
        ['a,"b', "1"],
    ]


def test_a_line_break_in_a_recorded_text_ends_no_row():
    assert csv_text(["a"], [["x\ny\r\nz\x1b[0m"]]).count("\n") == 2
    assert markdown(["a"], [["x\ny"]]).count("\n") == 3


def test_markdown_shows_text_as_it_stands():
    assert markdown(["", "a|b"], [["x_y", "<b>"]]) == "|  | a\\|b |\n| --- | ---: |\n| x\\_y | \\<b\\> |\n"
    assert markdown_text("http://x www.y [a](b)") == "http\\://x www\\.y \\[a\\](b)"


def test_latex_sets_text_as_it_stands():
    assert latex_text(r"\input{x} 50 % $a_b^c$ ~ <&> #|") == (
        r"\textbackslash{}input\{x\} 50 \% \$a\_b\textasciicircum{}c\$ \textasciitilde{} "
        r"\textless{}\&\textgreater{} \#\textbar{}"
    )


def test_a_latex_table_has_rules_and_its_notes_in_comments():
    assert latex(["", "a"], [["x", "1"]], ["n\\end", "m"]) == (
        "\\begin{tabular}{lr}\n\\toprule\n & a \\\\\n\\midrule\nx & 1 \\\\\n\\bottomrule\n\\end{tabular}\n"
        "% n\\textbackslash{}end\n% m\n"
    )


@pytest.mark.parametrize(("cell", "drawn"), [("[2cm] x", "{[}2cm] x"), ("*y", "{*}y"), (" [z", "{ [}z"), ("a[", "a[")])
def test_no_latex_row_begins_with_what_the_end_of_the_row_before_takes_for_its_own(cell, drawn):
    assert latex(["", cell], [["x", cell], [cell, "2"]], ["n"]).splitlines()[4:6] == [
        f"x & {cell} \\\\",
        f"{drawn} & 2 \\\\",
    ]
