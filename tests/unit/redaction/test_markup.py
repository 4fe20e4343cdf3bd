"""Secrets in XML and HTML."""

import pytest

from spectrace.redaction.markup import by_markup

SECRET = "Tr0ub4dor&3x"  # noqa: S105 - nobody's


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in by_markup(text, frozenset())]


@pytest.mark.parametrize(
    "text",
    [
        f"<config><password>{SECRET}</password></config>",
        f"<db:Password>\n  {SECRET}\n</db:Password>",
        f'<property name="hibernate.connection.password">{SECRET}</property>',
        f'<add key="DbPassword" value="{SECRET}"/>',
        f"<add value='{SECRET}' key='DbPassword'/>",
        f'<input type="password" name="pw" value="{SECRET}">',
        f'<meta name="csrf-token" content="{SECRET}">'.replace("csrf-token", "api-token"),
        f"<dt>Password:</dt> <dd>{SECRET}</dd>",
        f"<tr><td>API key</td><td>{SECRET}</td></tr>",
        f"<key>password</key>\n<string>{SECRET}</string>",
    ],
)
def test_a_secret_is_found_by_its_element_its_attributes_or_its_label(text):
    assert found(text) == [SECRET]


@pytest.mark.parametrize(
    "text",
    [
        "<password/>",
        "<password>REDACTED-secret-0123456789ab</password>",
        "<password>Choose one of eight letters</password>",
        f"<name>{SECRET}</name>",
        f'<input type="text" value="{SECRET}">',
        '<input type="password" name="pw">',
        "<td>Password</td><td>required</td>",
    ],
)
def test_markup_without_a_secret_stays(text):
    assert found(text) == []
