from tests.shop_log import REQUEST


def test_the_scripted_demonstration_shows_the_whole_path(line):
    result = line("demo", "--models", "scripted")
    parts = (
        "until the strong model rejects a draft",
        "spectrace replay",
        "same",
        "spectrace verify",
        "consistent",
        "Consistent means",
        "spectrace why",
        REQUEST,
        "spectrace audit actions",
        "verdict:",
        "spectrace reverify",
        "agree",
        "Go on with",
        "spectrace view",
    )
    places = [result.stdout.find(part) for part in parts]

    assert (result.exit_code, -1 in places) == (0, False), result.output


def test_what_it_recorded_can_be_asked_like_anything_else(line):
    line("demo", "--models", "scripted", "--db", "demo.db")
    shown = line.items("ls", "--db", "demo.db", "--label", "made_by=demo", "--protocol", "specagent")

    assert [item["rejections"] for item in shown] == [1]
    assert {item["kind"] for item in line.items("runs", "--db", "demo.db")} == {"reverify"}


def test_json_holds_each_steps_items(line):
    items = line.items("demo", "--models", "scripted")

    assert [item["step"] for item in items] == ["run", "replay", "verify", "why", "actions", "reverify"]
    assert all(item["items"] for item in items)


def test_the_commands_that_it_names_keep_the_database(line):
    shown = line("demo", "--models", "scripted", "--db", "demo.db").stdout

    assert "spectrace ls --db demo.db" in shown
