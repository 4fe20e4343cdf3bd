import pytest
from model_server import Answer, model_server

from spectrace.cli.doctor import EXTRAS


@pytest.fixture
def server():
    with model_server() as running:
        yield running.on("/v1/models", {"data": [{"id": "x"}]})


def served(tmp_path, server, name="strong"):
    (tmp_path / "spectrace.toml").write_text(
        f'[models.{name}]\nprovider = "openai"\nname = "x"\nurl = "{server.url}/v1"\n'
    )


def found_of(line, check, code=0):
    return next(item for item in line.items("doctor", code=code) if item["check"] == check)


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


def test_verifiers_that_are_no_models_are_looked_at_too(line, tmp_path):
    (tmp_path / "gold.csv").write_text("episode,segment,decision\ne1,1,accept\n")
    (tmp_path / "spectrace.toml").write_text(
        '[models.people]\nprovider = "labels"\nname = "gold.csv"\n'
        '[models.lost]\nprovider = "labels"\nname = "lost.csv"\n'
        '[models.rule]\nprovider = "function"\nname = "json:loads"\n'
    )
    found = states(line, code=1)

    assert {name: found[f"model {name}"] for name in ("people", "lost", "rule")} == {
        "people": "ok",
        "lost": "problem",
        "rule": "ok",
    }


def test_replicas_that_differ_are_a_problem(line, tmp_path, server):
    with model_server() as other:
        other.on("/v1/models", {"data": [{"id": "x", "max_model_len": 1}]})
        (tmp_path / "spectrace.toml").write_text(
            f'[models.strong]\nprovider = "openai"\nname = "x"\nurl = ["{server.url}/v1", "{other.url}/v1"]\n'
        )

        assert "differ in server.max_model_len" in found_of(line, "model strong", code=1)["detail"]


def test_a_literal_key_is_a_problem_of_the_settings(line, tmp_path):
    (tmp_path / "spectrace.toml").write_text('[models.open]\nprovider = "openai"\nname = "x"\nkey = "sk-1"\n')

    assert states(line, code=1)["settings"] == "problem"
    assert "sk-1" not in line("doctor").output


def test_a_strong_models_prompts_must_share_the_history(line, tmp_path, server):
    served(tmp_path, server)
    longer = {"tokens": [1, 2, 3, 4]}
    server.on("/tokenize", {"tokens": [1, 2, 3, 5, 6]}, {"tokens": [1, 2, 3, 7]}, {"tokens": [1, 2, 3]}, longer)

    assert found_of(line, "prompts strong") == {
        "check": "prompts strong",
        "state": "ok",
        "detail": "review, repair and action share 3 tokens of 5, 4 and 3; the history that all hold ends at 3",
    }


def test_prompts_that_share_less_than_the_history_are_a_problem(line, tmp_path, server):
    served(tmp_path, server)
    longer = {"tokens": [1, 2, 3, 4]}
    server.on("/tokenize", {"tokens": [1, 5, 6]}, {"tokens": [1, 2, 3, 7]}, {"tokens": [1, 2, 3]}, longer)
    found = found_of(line, "prompts strong", code=1)

    assert found["state"] == "problem"
    assert "share 1 tokens of 3, 4 and 3; the history that all hold ends at 3: the chat template" in found["detail"]


def test_prompts_of_a_server_without_a_tokenizer_cannot_be_checked(line, tmp_path, server):
    served(tmp_path, server)
    found = found_of(line, "prompts strong")

    assert (found["state"], found["detail"][:17]) == ("absent", "cannot be checked")


def test_prompts_of_a_server_whose_tokenizer_fails_are_a_problem(line, tmp_path, server):
    served(tmp_path, server)
    server.on("/tokenize", Answer({"error": {"message": "no template"}}, 500))

    assert found_of(line, "prompts strong", code=1)["state"] == "problem"


def test_the_model_called_weak_is_no_strong_one(line, tmp_path, server):
    served(tmp_path, server, name="weak")

    assert not [item for item in line.items("doctor", code=0) if item["check"].startswith("prompts")]


def test_local_models_that_draft_are_looked_up_and_not_started(line, tmp_path):
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
