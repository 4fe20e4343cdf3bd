from tests.damage import damage


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


def test_a_rejection_that_cannot_be_read_is_not_left_out_in_silence(line, episode):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 10")
    result = line("rejections")

    assert (result.exit_code, "Nothing was rejected" in result.stdout) == (3, False)
    assert "event 10 (verdict.given)" in result.stderr


def test_a_misspelt_run_and_an_empty_word_are_refused(line, episode):
    assert "did you mean first?" in line("rejections", "--run", "frist").stderr
    assert "not by ''." in line("rejections", "--by", "").stderr
