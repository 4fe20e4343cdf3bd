import pytest

from spectrace.errors import UsageError
from spectrace.models.keys import default_variable, endpoint, is_loopback, is_own_host, key_for, refuse_literal_keys

OWN = "https://api.openai.com/v1"
SET = {"OPENAI_API_KEY": "sk-default", "MINE": " sk-mine\n"}


def test_a_providers_default_key_goes_to_its_own_host():
    assert key_for("m", "openai", OWN, {}, SET) == "sk-default"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com.example.org/v1",
        "https://api.openai.com@example.org/v1",
        "https://api.openai.com:8443/v1",
        "https://example.org/api.openai.com",
        "http://127.0.0.1:8000/v1",
    ],
)
def test_a_providers_default_key_goes_to_no_other_host(url):
    assert key_for("m", "openai", url, {}, SET) is None


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://api.anthropic.com/v1", "sk-ant"),
        ("https://api.openai.com/v1", None),
        ("https://api.anthropic.com.example.org/v1", None),
        ("http://127.0.0.1:8000", None),
    ],
)
def test_each_provider_has_its_own_host_and_key(url, key):
    assert key_for("m", "anthropic", url, {}, {**SET, "ANTHROPIC_API_KEY": "sk-ant"}) == key


def test_another_provider_does_not_get_the_default_key_of_openai():
    assert key_for("m", "sglang", OWN, {}, SET) is None


def test_a_model_names_the_environment_variable_of_its_key():
    assert key_for("m", "openai", "http://box:1/v1", {"key_env": "MINE"}, SET) == "sk-mine"


def test_a_model_names_the_file_of_its_key(tmp_path):
    (tmp_path / "key").write_text("sk-filed\n")

    assert key_for("m", "openai", "http://box:1/v1", {"key_file": str(tmp_path / "key")}, {}) == "sk-filed"


@pytest.mark.parametrize("name", ["key", "api_key", "api-key", "token", "secret", "Authorization"])
def test_a_literal_key_is_refused_without_repeating_it(name):
    with pytest.raises(UsageError, match="has a literal key") as raised:
        key_for("m", "openai", OWN, {name: "sk-literal"}, SET)

    assert "sk-literal" not in str(raised.value)


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ({"parameters": {"api_key": "sk-literal"}}, "parameters.api_key"),
        ({"parameters": {"extra": [{"X-API-Key": "sk-literal"}]}}, r"parameters.extra\[0\].X-API-Key"),
        ({"parameters": {"extra_headers": {"Authorization": "sk-literal"}}}, "parameters.extra_headers.Authorization"),
        ({"parameters": {"extra_headers": {"X-Gate": "Bearer sk-literal"}}}, "parameters.extra_headers.X-Gate"),
        ({"openai_api_key": "sk-literal"}, "openai_api_key"),
        ({"clientSecret": {"of": ["sk-literal"]}}, r"clientSecret.of\[0\]"),
    ],
)
def test_a_literal_key_is_refused_at_any_depth(table, where):
    with pytest.raises(UsageError, match=rf"has a literal key \({where} = ...\)") as raised:
        key_for("m", "openai", OWN, table, SET)

    assert "sk-literal" not in str(raised.value)


def test_parameters_that_only_sound_like_keys_pass():
    parameters = {"stop_token": "</s>", "prompt_cache_key": "shop", "max_tokens": 5, "token": 7, "logit_bias": {"5": 1}}

    refuse_literal_keys("m", {"parameters": parameters, "key_env": "MINE", "key_file": "keys/mine"})


@pytest.mark.parametrize("pasted", ["sk-pasted", "a1b2c3pasted", "hf_pasted"])
@pytest.mark.parametrize("where", ["key_env", "key_file"])
def test_a_key_pasted_where_its_name_belongs_is_not_repeated(where, pasted):
    with pytest.raises(UsageError, match=where) as raised:
        key_for("m", "openai", OWN, {where: pasted}, {})

    assert "pasted" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"key_env": "ABSENT"}, "ABSENT, which is not set"),
        ({"key_file": "/no/such/file"}, "cannot be read: No such file"),
        ({"key_env": "MINE", "key_file": "x"}, "keep one"),
    ],
)
def test_a_key_that_cannot_be_had_says_where_it_was_looked_for(table, words):
    with pytest.raises(UsageError, match=words):
        key_for("m", "openai", OWN, table, SET)


def test_a_key_file_with_more_than_a_key_is_refused(tmp_path):
    (tmp_path / "key").write_text("sk-one\nsk-two\n")

    with pytest.raises(UsageError, match="one key, a single line"):
        key_for("m", "openai", OWN, {"key_file": str(tmp_path / "key")}, {})


def test_credentials_leave_the_url_and_become_a_header():
    split = endpoint("http://ann:p%40ss@box:8000/v1/?api-version=2#x")

    assert split.url == "http://box:8000/v1"
    assert split.authorization == "Basic YW5uOnBAc3M="
    assert split.query == (("api-version", "2"),)


def test_a_key_wins_over_the_urls_credentials():
    assert endpoint("http://ann:pass@box/v1", "sk-1").authorization == "Bearer sk-1"


def test_an_endpoint_prints_no_credential():
    split = endpoint("http://ann:hunter2@box/v1", "sk-1")

    assert "hunter2" not in repr(split)
    assert "sk-1" not in repr(split)


def test_an_echoed_credential_is_scrubbed():
    split = endpoint("http://ann:hunter2@box/v1", "sk-1")

    assert split.scrub("no such key sk-1, hunter2") == "no such key [key], [key]"


@pytest.mark.parametrize("user", ["ghp_x1", "ghp_x1:", "ghp%5Fx1", "ghp_x1_longer_than_words:x-oauth-basic"])
def test_a_key_in_the_place_of_a_user_name_is_scrubbed(user):
    said = f"no such user {user.partition(':')[0]}, ghp_x1"
    scrubbed = endpoint(f"https://{user}@box/v1").scrub(said)

    assert scrubbed.startswith("no such user [key], ")
    assert user.partition(":")[0] not in scrubbed


def test_a_short_user_name_beside_a_password_is_a_word_like_any_other():
    assert endpoint("http://ann:hunter2@box/v1").scrub("planned for ann, hunter2") == "planned for ann, [key]"


@pytest.mark.parametrize("url", ["", "box:8000", "ftp://box/", "http://", "http://box:port/", "http://[::1"])
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(UsageError, match="http://HOST"):
        endpoint(url)


def test_a_refused_url_is_shown_without_its_credentials():
    with pytest.raises(UsageError) as raised:
        endpoint("ftp://ann:hunter2@box/?key=sk-1")

    assert "hunter2" not in str(raised.value)
    assert "sk-1" not in str(raised.value)


def test_an_ipv6_host_keeps_its_brackets():
    assert endpoint("http://[::1]:80/v1").url == "http://[::1]:80/v1"


@pytest.mark.parametrize(
    ("url", "variable"),
    [(OWN, "OPENAI_API_KEY"), ("https://api.anthropic.com", "ANTHROPIC_API_KEY"), ("https://box/v1", None)],
)
def test_the_variable_of_a_providers_own_host_is_known_by_the_url(url, variable):
    assert default_variable(url) == variable


def test_the_own_host_may_be_written_in_capitals():
    assert is_own_host("openai", "https://API.OpenAI.com:443/v1")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://127.3.2.1", True),
        ("http://[::1]:1", True),
        ("http://127.example.org", False),
        ("http://box", False),
    ],
)
def test_this_machine_is_recognised(url, local):
    assert is_loopback(url) is local
