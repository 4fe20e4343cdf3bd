def test_items_have_the_fields_that_others_rely_on(line, episode):
    assert line.items("rejections", "--by", "category,tool") == [
        {
            "key": "premature / cancel_order",
            "category": "premature",
            "tool": "cancel_order",
            "n": 1,
            "episodes": 1,
            "example": f"{episode}:10",
        }
    ]


def test_people_get_a_column_for_each_thing_counted_by(line, episode):
    result = line("rejections", "--by", "env,category")

    assert result.stdout.splitlines()[0].split() == ["env", "category", "n", "episodes", "example"]
    assert "shop" in result.stdout


def test_none_is_said(line, episode):
    assert line("rejections", "--status", "failed").stdout == "Nothing was rejected.\n"


def test_an_unknown_thing_to_count_by_is_refused(line, episode):
    assert line("rejections", "--by", "colour").exit_code == 2
