import tomllib

from spectrace.settings import TEMPLATE


def test_it_writes_a_file_that_says_how_to_go_on(line, tmp_path):
    result = line("init")

    assert (result.exit_code, (tmp_path / "spectrace.toml").read_text()) == (0, TEMPLATE)
    assert "Next: spectrace run --env shop" in result.stdout


def test_it_never_overwrites(line, tmp_path):
    (tmp_path / "spectrace.toml").write_text("project = 'mine'\n")
    result = line("init")

    assert (result.exit_code, tomllib.loads((tmp_path / "spectrace.toml").read_text())) == (2, {"project": "mine"})
    assert "never overwrites" in result.stderr


def test_json_names_the_file(line, tmp_path):
    assert line.items("init") == [{"path": str(tmp_path / "spectrace.toml")}]
