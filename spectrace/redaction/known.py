"""Secrets by their own form: tokens of well-known vendors, JSON Web Tokens, private keys.

The vendors' forms are those of detect-secrets, and a few that it lacks. Of its plugins these are left out: the ones
that go by a field's name (`fields` does, and looks at its position), by entropy (digests and ids would go), npm's and
its JWT's pattern, whose time grows with the square of a hostile text, and Artifactory's password (`APACHE...`). What
remains is bounded at every start, so it is linear. None is run where its anchor, a literal part, does not occur.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module

from spectrace.redaction.findings import SECRET, Found

_JWT = re.compile(r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{6,}+\.[A-Za-z0-9_\-=]{2,}+\.[A-Za-z0-9_\-+/=]*+")
_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,.\-]|\\[nr])*+")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,48}-----")
_LEAST = 20
"""Characters of a group that is the secret itself; a shorter one is only its prefix."""

_OWN: tuple[tuple[str, str, str], ...] = (
    ("sk-", r"(?<![A-Za-z0-9_\-])sk-[A-Za-z0-9_\-]{20,}+", "API key (sk-)"),
    ("AIza", r"(?<![A-Za-z0-9_\-])AIza[A-Za-z0-9_\-]{35}", "Google API key"),
    ("ya29.", r"(?<![A-Za-z0-9_\-])ya29\.[A-Za-z0-9_\-]{20,}+", "Google OAuth token"),
    ("GOCSPX-", r"GOCSPX-[A-Za-z0-9_\-]{20,}+", "Google client secret"),
    ("hf_", r"(?<![A-Za-z0-9_\-])hf_[A-Za-z0-9]{30,}+", "Hugging Face token"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}+", "GitHub token"),
    ("npm_", r"(?<![A-Za-z0-9_\-])npm_[A-Za-z0-9]{36}", "npm token"),
    ("k_test_", r"(?<![A-Za-z0-9])[rs]k_test_[A-Za-z0-9]{16,}+", "Stripe test key"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{20,}+", "webhook secret"),
    ("xapp-", r"xapp-[0-9]-[A-Za-z0-9\-]{20,}+", "Slack app token"),
    ("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "Shopify token"),
    ("dop_v1_", r"dop_v1_[a-f0-9]{64}", "DigitalOcean token"),
    ("hv", r"(?<![A-Za-z0-9_\-.])hv[sbr]\.[A-Za-z0-9_\-]{24,}+", "Vault token"),
    ("/api/webhooks/", r"(?<=/api/webhooks/)[0-9]{17,20}/[A-Za-z0-9_\-]{40,}+", "Discord webhook"),
    ("Private-Lines:", r"(?<=Private-Lines: )[0-9]{1,4}\r?\n(?:[A-Za-z0-9+/=]{1,76}+(?:\r?\n|\Z))++", "private key"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}", "age secret key"),
)
_PLUGINS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("artifactory", "ArtifactoryDetector", ("AKC",), ""),
    ("aws", "AWSKeyDetector", ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws", "AWS"), ""),
    ("azure_storage_key", "AzureStorageKeyDetector", ("AccountKey=",), ""),
    ("discord", "DiscordBotTokenDetector", (".",), r"\.[\w\-]{27}"),
    ("github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), ""),
    ("gitlab_token", "GitLabTokenDetector", ("gl", "GR1348941"), r"gl[a-z]{2,6}-|GR1348941"),
    ("mailchimp", "MailchimpDetector", ("-us",), r"-us[0-9]"),
    ("pypi_token", "PypiTokenDetector", ("pypi-",), ""),
    ("sendgrid", "SendGridDetector", ("SG.",), ""),
    ("slack", "SlackDetector", ("xox", "hooks.slack.com"), ""),
    ("square_oauth", "SquareOAuthDetector", ("sq0csp-",), ""),
    ("stripe", "StripeDetector", ("k_live_",), ""),
    ("telegram_token", "TelegramBotTokenDetector", (":",), r":[\w\-]{35}"),
    ("twilio", "TwilioKeyDetector", ("AC", "SK"), r"(?:AC|SK)[a-z0-9]{32}"),
)


class Form:
    """One vendor's tokens. Its patterns are the library's, loaded when a text has a trace of one."""

    def __init__(self, module: str, name: str, anchors: tuple[str, ...], trace: str) -> None:
        """Look where one of the anchors occurs, and `trace` is found if there is one."""
        self.anchors = anchors
        self._module, self._name, self._trace = module, name, re.compile(trace) if trace else None

    def find(self, text: str) -> Iterator[Found]:
        """Yield the vendor's tokens."""
        if self._trace is not None and self._trace.search(text) is None:
            return
        for pattern in self._patterns[0]:
            for match in pattern.finditer(text):
                inner = match.lastindex == 1 and len(match[1]) >= _LEAST
                yield Found(*match.span(1 if inner else 0), SECRET, self._patterns[1])

    @cached_property
    def _patterns(self) -> tuple[tuple[re.Pattern[str], ...], str]:
        """Load the library's plugin: it brings an HTTP client along, 0.1 s that most processes need not pay."""
        plugin = getattr(import_module(f"detect_secrets.plugins.{self._module}"), self._name)
        patterns = tuple(plugin.denylist)
        return patterns[:1] if self._module == "artifactory" else patterns, str(plugin.secret_type)


_FORMS = tuple(Form(*plugin) for plugin in _PLUGINS)
_AWS_PAIR = re.compile(r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;|\"']{1,6}(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_HASH = re.compile(
    r"(?<![\w$])\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id|i|d)|scrypt|pbkdf2[\w\-]{0,16})\$[./A-Za-z0-9$=,+]{20,}+"
)
_COMPILED = tuple((anchor, re.compile(pattern), why) for anchor, pattern, why in _OWN)


def by_form(text: str) -> Iterator[Found]:
    """Yield what is a secret by its own form."""
    for anchor, pattern, why in _COMPILED:
        if anchor in text:
            for match in pattern.finditer(text):
                yield Found(match.start(), match.end(), SECRET, why)
    if "$" in text and text.count("$") > 1:
        for match in _HASH.finditer(text):
            yield Found(match.start(), match.end(), SECRET, "password hash")
    if "AKIA" in text or "ASIA" in text:
        for match in _AWS_PAIR.finditer(text):
            yield Found(*match.span("value"), SECRET, "AWS secret key")
    for form in _FORMS:
        for anchor in form.anchors:
            if anchor in text:
                yield from form.find(text)
                break
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if _is_jwt(match[0]):
                yield Found(match.start(), match.end(), SECRET, "JSON Web Token")
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)


def _is_jwt(token: str) -> bool:
    head = token.partition(".")[0]
    try:
        found = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(found, dict)


def _private_keys(text: str) -> Iterator[Found]:
    at = 0
    while (begin := _PEM.search(text, at)) is not None:
        body = _PEM_BODY.match(text, begin.end())
        at = begin.end() if body is None else body.end()
        end = _PEM_END.search(text, begin.end(), at + 64)
        at = max(begin.end(), at) if end is None else end.end()
        yield Found(begin.start(), at, SECRET, "private key")
