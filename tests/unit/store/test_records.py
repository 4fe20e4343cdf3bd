import json
import random

from jsonschema import Draft202012Validator

from spectrace.store.records import answer, arguments, parameters_schema, tool_name


def drawn(make, count=200):
    return [make(random.Random(seed)) for seed in range(count)]  # noqa: S311 - reproducible, not secret


def test_an_answer_is_json_of_one_record_or_several():
    told = [json.loads(text) for text in drawn(answer)]

    assert {type(one) for one in told} == {dict, list}
    assert len({json.dumps(one) for one in told}) == len(told)


def test_equal_chances_give_equal_records():
    assert drawn(answer, 20) == drawn(answer, 20)


def test_arguments_are_plain_values():
    assert {type(value) for told in drawn(arguments) for value in told.values()} <= {str, int, float, bool}
    assert {len(told) for told in drawn(arguments)} <= {1, 2, 3}


def test_a_tools_parameters_are_a_json_schema():
    for schema in drawn(parameters_schema, 50):
        Draft202012Validator.check_schema(schema)


def test_a_tools_name_has_no_blanks():
    assert all(name.replace("_", "").isalpha() for name in drawn(tool_name))
