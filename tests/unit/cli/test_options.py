import time

import click
import pytest
from click.testing import CliRunner

from spectrace.audit.answers import Filters
from spectrace.cli.options import filter_options, label_of, moment
from spectrace.errors import UsageError


@click.command()
@filter_options(without=("env",))
@click.option("--env")
def without_env(filters, env):
    click.echo(repr((filters, env)))


@click.command()
@filter_options()
def every(filters):
    click.echo(repr(filters))


def test_filters_become_one_value():
    given = ["--status", "failed", "--env", "shop", "--label", "team=x", "--rejected", "--since", "1970-01-01T00:00:01"]
    result = CliRunner().invoke(every, given)
    expected = Filters(status=("failed",), env=("shop",), labels=(("team", "x"),), rejected=True, since=1_000_000)

    assert result.stdout == f"{expected!r}\n"


def test_a_command_may_keep_a_name_for_itself():
    assert CliRunner().invoke(without_env, ["--env", "shop"]).stdout == f"{(Filters(), 'shop')!r}\n"


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-02", 86_400_000_000),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T01:00:01+01:00", 1_000_000),
        (None, None),
    ],
)
def test_a_moment_is_utc_where_it_names_no_zone(text, microseconds):
    assert moment(text) == microseconds


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("2h", 7200), ("7d", 604800), ("1w", 604800)])
def test_a_moment_may_be_some_time_ago(text, seconds):
    ago = moment(text)

    assert ago is not None
    assert abs(time.time() - ago / 1e6 - seconds) < 60


@pytest.mark.parametrize("text", ["yesterday", "5", "2025-13-01", "h"])
def test_any_other_moment_is_refused_with_what_there_is(text):
    with pytest.raises(UsageError, match="2h, 7d"):
        moment(text)


def test_a_label_has_a_key_and_a_value():
    assert label_of("team=a=b") == ("team", "a=b")
    with pytest.raises(UsageError, match="KEY=VALUE"):
        label_of("team")
