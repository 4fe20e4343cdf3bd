import json

import pytest

from spectrace.core.types import Scoring, Usage
from spectrace.models import scoring
from spectrace.models.chat import InvalidReply

PROMPT = (101, 102, 103)
YES, NO, NEWLINE = 9693, 2152, 198
TOKENIZED = ((YES,), (NO,), (NEWLINE,), (16, 25), (17, 25))
"""Of two steps, in the ids of a real tokenizer: yes, no, newline, `1:` and `2:`."""
LAID = scoring.answers(PROMPT, TOKENIZED, Scoring(2))

CAPTURED = """\
{"text":"","output_ids":[],"meta_info":{"id":"e1d4cc03","finish_reason":{"type":"length","length":0},\
"prompt_tokens":11,"weight_version":"wv-1","input_token_ids_logprobs":[null,\
[[-6.754108428955078,9693,null],[-6.629108428955078,2152,null]],\
[[-15.01657485961914,9693,null],[-13.06344985961914,2152,null]],\
[[-10.447197914123535,9693,null],[-9.822197914123535,2152,null]],\
[[-11.401504516601562,9693,null],[-9.151504516601562,2152,null]],\
[[-1.296143889427185,9693,null],[-0.6711438894271851,2152,null]],\
[[-16.612180709838867,9693,null],[-14.104368209838867,2152,null]]],\
"reasoning_tokens":0,"completion_tokens":0,"cached_tokens":4}}"""
"""What SGLang 0.5.23 answered to the score of two steps; its prompt was longer."""


def meta(**changes):
    return {**scoring.read_generated(CAPTURED).meta, **changes}


def test_the_texts_of_a_segment_are_its_answers_the_newline_and_a_number_a_step():
    assert scoring.pieces(Scoring(3, yes="ok", no="bad")) == ["ok", "bad", "\n", "1:", "2:", "3:"]


def test_each_step_is_a_number_a_forced_yes_and_a_newline_joined_as_ids():
    assert LAID.ids == (*PROMPT, 16, 25, YES, NEWLINE, 17, 25, YES, NEWLINE)
    assert [LAID.ids[at] for at in LAID.at] == [YES, YES]


def test_a_rejection_goes_on_after_a_no_in_place_of_that_steps_yes():
    assert LAID.rejected(1) == (*PROMPT, 16, 25, NO)
    assert LAID.rejected(2) == (*PROMPT, 16, 25, YES, NEWLINE, 17, 25, NO)


def test_an_answer_of_several_tokens_is_refused():
    with pytest.raises(scoring.NotScorable, match="writes the answer 'no' as 2 tokens"):
        scoring.answers(PROMPT, ((YES,), (1, NO), *TOKENIZED[2:]), Scoring(2))


def test_answers_that_are_one_token_are_refused():
    with pytest.raises(scoring.NotScorable, match="the same token"):
        scoring.answers(PROMPT, ((YES,), (YES,), *TOKENIZED[2:]), Scoring(2))


def test_the_score_decodes_nothing_and_never_starts_at_0():
    assert scoring.score_body(LAID, {"temperature": 0, "max_tokens": 400, "cache_salt": "a"}) == {
        "input_ids": list(LAID.ids),
        "sampling_params": {"max_new_tokens": 0, "temperature": 0},
        "return_logprob": True,
        "logprob_start_len": LAID.at[0] - 1,
        "token_ids_logprob": [YES, NO],
        "cache_salt": "a",
    }


def test_a_rejection_is_decoded_under_the_schema_with_the_parameters_in_sglangs_words():
    parameters = {"temperature": 0, "max_tokens": 400, "seed": 7, "stop": None, "tool_choice": "auto"}

    assert scoring.reject_body(LAID, 1, '{"type": "object"}', parameters) == {
        "input_ids": [*PROMPT, 16, 25, NO],
        "sampling_params": {
            "max_new_tokens": 400,
            "temperature": 0,
            "sampling_seed": 7,
            "json_schema": '{"type": "object"}',
        },
    }


def test_a_rejection_without_a_limit_ends_all_the_same():
    assert scoring.reject_body(LAID, 1, None, {})["sampling_params"] == {"max_new_tokens": 1024}


def test_a_parameter_that_generate_does_not_take_is_refused_at_the_score_already():
    with pytest.raises(scoring.NotScorable, match="takes no parameter best_of, n"):
        scoring.score_body(LAID, {"temperature": 0, "n": 2, "best_of": 3})


def test_scores_are_read_at_each_answer_in_the_servers_own_digits():
    assert json.loads(scoring.scores(meta(), LAID)) == {
        "yes": ["-6.754108428955078", "-1.296143889427185"],
        "no": ["-6.629108428955078", "-0.6711438894271851"],
    }


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (None, "gives no input_token_ids_logprobs"),
        ([None] * 6, "of 6 positions, expected 7"),
        ([None] * 7, "no single log-probability of both answers at step 1"),
        ([None, [["-1.5", YES, None]], *[None] * 5], "no single log-probability of both answers at step 1"),
        ([None, [["-5", YES], ["-0.01", YES], ["-1", NO]], *[None] * 5], "no single log-probability of both answers"),
        ([None, [["-5", [1]], ["-1", NO]], *[None] * 5], "no single log-probability of both answers"),
        (
            [None, [["-1.5", YES, None], [None, NO, None]], *[None] * 5],
            "no single log-probability of both answers at step 1",
        ),
    ],
)
def test_an_answer_without_the_log_probabilities_is_refused(entries, why):
    with pytest.raises(scoring.NotScorable, match=why):
        scoring.scores(meta(input_token_ids_logprobs=entries), LAID)


def test_the_counts_are_the_servers():
    answer = scoring.read_generated(CAPTURED)

    assert answer.usage == Usage(input=11, cached=4, output=0, reasoning=0)
    assert answer.finish == {"type": "length", "length": 0}


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"text": 1, "meta_info": {}}', '{"text": "", "meta_info": 1}'])
def test_what_generate_does_not_answer_is_invalid(body):
    with pytest.raises(InvalidReply):
        scoring.read_generated(body)


def test_a_probability_that_is_no_number_is_no_score():
    text = CAPTURED.replace("-1.296143889427185", "-Infinity")

    with pytest.raises(scoring.NotScorable, match="at step 2"):
        scoring.scores(scoring.read_generated(text).meta, LAID)
