from spectrace.runs.divergence import Difference, Nearest
from spectrace.runs.preflight import Checked, Finding
from spectrace.runs.replay import ReplayResult
from spectrace.testing.telling import changes, divergence, divergences

FIRST = Difference(7, "/messages/1/content", "'a'", "'b'", "The prompts changed.", (Nearest(9, "generate", ("/x",)),))


def result(episode="e1", first=FIRST, result="diverged", detail="it cannot be"):
    return ReplayResult(episode, result, 6, 20, 2, first, detail)


def test_a_divergence_names_the_event_both_sides_the_cause_and_what_comes_nearest():
    assert divergence(result()) == (
        "e1:7  /messages/1/content  same up to 6 of 20 events\n"
        "  recorded  'a'\n"
        "  now       'b'\n"
        "  cause     The prompts changed.\n"
        "  nearest   e1:9  generate differs in /x"
    )


def test_what_cannot_be_replayed_is_told_with_the_reason():
    assert divergence(result(first=None, result="untestable")) == "e1  untestable: it cannot be"


def test_of_many_the_first_are_told_and_the_rest_named():
    told = divergences([result(f"e{number}") for number in range(7)], 9)

    assert told.startswith("7 of 9 episodes did not replay the same.\n\ne0:7")
    assert told.endswith("\n\nand e5, e6")
    assert told.count("cause") == 5


def test_changes_are_told_and_notes_left_out():
    found = (Finding("schema", "/tools/look", "1", "2"), Finding("versions", "/v", "3", "4", changed=False))

    assert changes("e1", Checked("diverged", found, "1 change; 1 note")) == (
        "e1  1 change; 1 note\n  schema  /tools/look\n    recorded  1\n    now       2"
    )
