from spectrace.cli.listing import counts


def test_counts_are_in_the_order_of_the_kinds_and_say_what_they_mean(capsys):
    counts(["bb", "a", "bb"], {"a": "First.", "bb": "Second.", "c": "Third."})

    assert capsys.readouterr().out == "\n     1  a   First.\n     2  bb  Second.\n"


def test_of_nothing_there_is_nothing_to_count(capsys):
    counts([], {"a": "First."})

    assert capsys.readouterr().out == ""
