import pytest

CONTRACT = (
    "episode seq tool arguments effect_declared effect_by drafted_at held_seq verdict_seq authority reviewer_model "
    "requested_at completed_at outcome state_changed result_digest started_by erased"
)


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    items = line.items("audit", "actions")

    assert set(CONTRACT.split()) <= set(items[0])
    assert [(item["tool"], item["outcome"], item["authority"]) for item in items] == [
        ("cancel_order", "never", None),
        ("cancel_order", "ok", "verdict:28"),
        (None, "ok", "verdict:39"),
    ]
    assert items[0]["arguments"] == '{"order_id": "W200"}'


@pytest.mark.parametrize(
    ("options", "seqs"),
    [
        (["--tool", "cancel_order"], [5, 30]),
        (["--effect", "write", "--outcome", "ok"], [30]),
        (["--effect", "read"], [14, 19]),
        (["--authority", "verdict"], [30, 41]),
        (["--authority", "verdict:39"], [41]),
        (["--authority", "repair", "--effect", "read"], [14]),
        (["--outcome", "never"], [5]),
        (["--outcome", "indeterminate"], []),
        (["--env", "tau2:airline"], []),
        (["--run", "first", "--effect", "finish"], [41]),
        (["--since", "1h", "--effect", "finish"], [41]),
        (["--until", "2000-01-01"], []),
    ],
)
def test_options_choose(line, episode, options, seqs):
    assert [item["seq"] for item in line.items("audit", "actions", *options)] == seqs


def test_an_episode_may_be_named(line, episode):
    assert len(line.items("audit", "actions", episode[:8])) == 3
    assert line("audit", "actions", "zz").exit_code == 2


def test_people_see_the_action_with_its_authority(line, episode):
    (row,) = (row for row in line("audit", "actions").stdout.splitlines() if "verdict:28" in row)

    assert f"{episode}:30" in row
    assert 'cancel_order {"order_id": "W200"}' in row
