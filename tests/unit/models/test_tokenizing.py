import asyncio
import json

import pytest

from spectrace.models import tokenizing
from spectrace.models.chat import InvalidReply
from spectrace.models.failures import Failure

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0, "tool_choice": "auto"}
SHAPING = {name: BODY[name] for name in ("model", "messages", "tool_choice")}


class Pages:
    """A server's pages: path -> the body that it answers, or the Failure of asking it."""

    def __init__(self, **pages):
        self.pages = {f"/{name.replace('_', '-')}": answer for name, answer in pages.items()}
        self.asked = []

    async def post(self, path, body):
        self.asked.append((path, body))
        answer = self.pages.get(path, Failure("refused", "Not Found.", status=404))
        if isinstance(answer, Failure):
            raise answer
        return answer if isinstance(answer, str) else json.dumps(answer)


def asked(pages, function, *arguments):
    return asyncio.run(function(pages.post, *arguments))


def test_messages_are_tokenized_on_one_page_with_what_shapes_the_prompt():
    pages = Pages(tokenize={"tokens": [1, 2, 3], "count": 3})

    assert asked(pages, tokenizing.message_ids, BODY) == (1, 2, 3)
    assert pages.asked == [("/tokenize", SHAPING)]


def test_texts_are_tokenized_without_what_stands_before_a_prompt():
    pages = Pages(tokenize={"tokens": [[1], [2, 3]]})

    assert asked(pages, tokenizing.text_ids, "m", ("yes", "1:")) == ((1,), (2, 3))
    assert pages.asked == [("/tokenize", {"model": "m", "prompt": ["yes", "1:"], "add_special_tokens": False})]


def test_llama_cpp_renders_first_and_tokenizes_as_for_a_chat():
    pages = Pages(apply_template={"prompt": "<s>hi"}, tokenize={"tokens": [1, 2]})

    assert asked(pages, tokenizing.prompt_ids, BODY) == (1, 2)
    assert pages.asked == [
        ("/apply-template", SHAPING),
        ("/tokenize", {"content": "<s>hi", "add_special": True, "parse_special": True}),
    ]


def test_a_server_that_renders_nothing_is_asked_to_tokenize_messages():
    pages = Pages(tokenize={"tokens": [1, 2]})

    assert asked(pages, tokenizing.prompt_ids, BODY) == (1, 2)
    assert pages.asked[-1] == ("/tokenize", SHAPING)


def test_a_template_that_refuses_the_messages_is_not_taken_for_an_absent_page():
    pages = Pages(apply_template=Failure("refused", "roles must alternate", status=400), tokenize={"tokens": [1]})

    with pytest.raises(Failure, match="roles must alternate"):
        asked(pages, tokenizing.prompt_ids, BODY)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_an_old_server_is_told_from_a_broken_one(status):
    pages = Pages(tokenize=Failure("refused", "Its words.", status=status))

    with pytest.raises(Failure, match=r"cannot tokenize a chat \(SGLang can from 0\.5\.12 on\): Its words\."):
        asked(pages, tokenizing.message_ids, BODY)
    with pytest.raises(Failure, match=r"cannot tokenize a chat"):
        asked(pages, tokenizing.text_ids, "m", ("yes",))


def test_a_server_that_is_down_keeps_its_own_failure():
    pages = Pages(tokenize=Failure("unreachable", "nobody answers", again=True))

    with pytest.raises(Failure, match=r"^nobody answers$"):
        asked(pages, tokenizing.message_ids, BODY)


@pytest.mark.parametrize("tokens", [None, [], ["a"], [-1], [1.5], {"a": 1}])
def test_what_is_no_list_of_ids_is_invalid(tokens):
    with pytest.raises(InvalidReply):
        asked(Pages(tokenize={"tokens": tokens}), tokenizing.message_ids, BODY)


def test_tokens_of_fewer_texts_are_invalid():
    with pytest.raises(InvalidReply, match="no tokens of 2 texts"):
        asked(Pages(tokenize={"tokens": [[1]]}), tokenizing.text_ids, "m", ("yes", "no"))
