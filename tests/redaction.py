"""Redactors for tests, with a key that is no secret, and an environment that is full of secrets."""

from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.rules import Rules
from spectrace.redaction.secret_key import SecretKey

KEY = SecretKey(b"a key for tests, known to everybody")


def redactor(rules: Rules | None = None) -> Redactor:
    return Redactor(KEY, rules)


PASSWORD = "hunter-22-planted"  # noqa: S105 - planted, to be found nowhere
TOKEN = "tvly-planted-0000000001"  # noqa: S105 - as above
DSN_PASSWORD = "pw-planted-02"  # noqa: S105 - as above


class Vault:
    """What the environment was really given."""

    def __init__(self) -> None:
        self.logins: list[str] = []
        self.sent: list[str] = []

    def open(self, restore: str = "reset") -> FunctionEnvironment:
        @tool(effect="read")
        def read_settings() -> str:
            """Read the settings."""
            return f"host=db\nexport SEARCH_TOKEN={TOKEN}\nurl: postgresql://app:{DSN_PASSWORD}@db/prod\ntokens: 128"

        @tool(effect="write")
        def log_in(password: str) -> str:
            """Log in."""
            self.logins.append(password)
            return f"logged in with {password}"

        @tool(effect="write")
        def fail(password: str) -> str:
            """Fail."""
            raise ValueError(f"login failed: password={password}")

        return FunctionEnvironment.from_functions(
            "vault",
            (read_settings, log_in, fail),
            f"Be careful. Your own api_key: '{TOKEN}'",
            reset=lambda: self,
            tasks=(Task("t1", f"Log in with password: {PASSWORD}", grade=lambda _, answer: answer == "done"),),
            fingerprint=lambda _: list(self.logins),
            restore=restore,
        )
