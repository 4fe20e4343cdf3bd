"""Case 008: usage comes at the end of a stream, in several ways, and is never added up."""

import json
from pathlib import Path

import pytest

from tests.wire import received

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["*"]


@pytest.mark.parametrize("path", sorted(CASE.glob("*.sse")), ids=lambda path: path.name)
def test_text_finish_and_counts_are_those_of_the_reply(path):
    answer = received(path)
    usage = answer.usage

    assert (answer.message.content, answer.finish_reason) == (EXPECTED["content"], EXPECTED["finish"])
    assert [usage.input, usage.output, usage.input + usage.output] == EXPECTED["usage"]
    assert answer.server is None
