from spectrace.cli.doctor import EXTRAS


def states(line, code=0):
    return {item["check"]: item["state"] for item in line.items("doctor", code=code)}


def test_it_says_what_is_there_and_what_is_not(line):
    found = states(line)

    assert (found["spectrace"], found["settings"], found["database"]) == ("ok", "absent", "absent")
    assert {f"extra {extra}" for extra in EXTRAS} <= set(found)


def test_a_sound_database_is_ok(line, episode):
    assert states(line)["database"] == "ok"


def test_a_file_that_is_no_database_is_a_problem(line, tmp_path):
    (tmp_path / "spectrace.db").write_text("something else entirely, and long enough to look at" * 50)

    assert states(line, code=1)["database"] == "problem"


def test_models_are_asked(line, tmp_path):
    (tmp_path / "s.json").write_text('{"replies": []}')
    (tmp_path / "spectrace.toml").write_text(
        '[models.there]\nprovider = "scripted"\nname = "s.json"\n'
        '[models.gone]\nprovider = "openai"\nname = "x"\nurl = "http://127.0.0.1:1"\n'
    )
    found = states(line, code=1)

    assert (found["model there"], found["model gone"]) == ("ok", "problem")


def test_a_literal_key_is_a_problem_of_the_settings(line, tmp_path):
    (tmp_path / "spectrace.toml").write_text('[models.open]\nprovider = "openai"\nname = "x"\nkey = "sk-1"\n')

    assert states(line, code=1)["settings"] == "problem"
    assert "sk-1" not in line("doctor").output


def test_local_models_are_looked_up_and_not_started(line, tmp_path):
    (tmp_path / "spectrace.toml").write_text('[models.weak]\nprovider = "local"\nname = "weak"\n')
    result = line.items("doctor", code=0)
    (found,) = (item for item in result if item["check"] == "model weak")

    assert found["state"] in {"ok", "absent"}
    assert "qwen" in found["detail"]


def test_broken_settings_are_a_problem_and_the_rest_is_still_looked_at(line, tmp_path):
    (tmp_path / "spectrace.toml").write_text("databse = 'x'\n")
    found = states(line, code=1)

    assert (found["settings"], "database" in found) == ("problem", True)


def test_people_get_a_table(line):
    assert line("doctor").stdout.split()[:3] == ["check", "state", "detail"]
