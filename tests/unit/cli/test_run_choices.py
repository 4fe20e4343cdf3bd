import pytest

from spectrace.cli.run_choices import choose_protocols, choose_tasks, lacking, named_models
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.environments.shop import open_shop
from spectrace.errors import UsageError
from spectrace.runs.protocols import PROTOCOLS
from spectrace.settings import Settings


def test_tasks_are_chosen_by_comma_by_repetition_and_all():
    shop = open_shop()

    assert [task.id for task in choose_tasks("shop", shop, ["voucher-late,cancel-own", "cancel-own"])] == [
        "voucher-late",
        "cancel-own",
    ]
    assert len(choose_tasks("shop", shop, ["all"])) == 12


def test_protocols_are_chosen_by_comma_by_repetition_and_all():
    assert choose_protocols(["weak-only, specagent", "weak-only"], []) == [WeakOnly(), SpecAgent()]
    assert [one.NAME for one in choose_protocols(["all"], [])] == list(PROTOCOLS)


def test_an_option_goes_to_the_protocols_that_have_it_and_the_others_are_named():
    chosen = choose_protocols(["specagent,strong-only"], ["k=4", "max_steps=9"])

    assert chosen == [SpecAgent(k=4, max_steps=9), StrongOnly(max_steps=9)]
    assert lacking(chosen, ["k=4", "max_steps=9"]) == ["-o k=4 is no option of strong-only: run without it."]


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (["weak-only,strong-only"], ["k=4"], "weak-only has no option 'k'"),
        (["weak-only,specagnt"], [], "did you mean specagent?"),
        ([","], [], "--protocol says who drafts"),
        (["specagent,weak-only"], ["k"], "-o takes KEY=VALUE"),
    ],
)
def test_what_is_no_protocol_or_nobodys_option_is_refused(names, options, words):
    with pytest.raises(UsageError, match=words):
        choose_protocols(names, options)


def test_every_role_of_any_protocol_needs_a_model_and_no_other():
    given = {"weak": "scripted:w", "strong": None, "user": None}

    assert named_models([WeakOnly()], given, Settings()) == {"weak": "scripted:w"}
    with pytest.raises(UsageError, match="strong-only needs a strong model"):
        named_models([WeakOnly(), StrongOnly()], given, Settings())
