"""Case 014, the wire: a name is kept exactly as sent; nothing cleans it."""

import json
from pathlib import Path

import pytest

from tests.wire import received

CASE = Path(__file__).parent
NAMES = {"leaked.json": "renew_loan<|channel|>commentary", "invented.json": "query_member_register"}


@pytest.mark.parametrize("name", json.loads((CASE / "expected.json").read_text()))
def test_the_name_is_kept_as_sent(name):
    assert [call.name for call in received(CASE / name).message.calls] == [NAMES[name]]
