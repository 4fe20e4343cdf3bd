from hypothesis import given
from hypothesis import strategies as st

from spectrace.audit.prompt_ids import PromptIds
from spectrace.audit.spending import Asked
from spectrace.core.types import Message
from spectrace.cost.tokens import approximate, message_ids

MESSAGES = st.lists(st.builds(Message, st.sampled_from(("user", "assistant")), st.sampled_from(("", "a", "long one"))))
ANSWER = Message("assistant", "It is done.")


def asked(messages, tools=None, answer=ANSWER):
    return Asked(1, 0, "act", "strong", None, tuple(messages), tools, answer)


@given(st.lists(st.tuples(st.sampled_from(("here", "there")), MESSAGES), max_size=12))
def test_ids_are_those_of_the_whole_prompt_whatever_was_asked_before(prompts):
    ids = PromptIds()

    for place, messages in prompts:
        assert ids.of(place, asked(messages)) == (approximate(messages), message_ids(ANSWER))


def test_tools_come_first_and_a_call_without_an_answer_has_no_ids_of_one():
    tools, message = Message("tools", "look"), Message("user", "Go.")

    assert PromptIds().of("here", asked([message], tools, None)) == (approximate([tools, message]), [])


def test_an_answer_that_ones_own_tokenizer_glues_to_the_prompt_has_no_ids():
    def tokenize(messages):
        return [len(messages), *range(len(messages))]

    assert PromptIds(tokenize).of("here", asked([ANSWER])) == ([1, 0], [])
    assert PromptIds(approximate).of("here", asked([ANSWER]))[1] == message_ids(ANSWER)
