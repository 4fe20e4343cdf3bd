import dataclasses
import datetime as dt
import json
import math
import subprocess
import sys
import threading
from collections import deque, namedtuple
from collections.abc import Mapping
from decimal import Decimal
from enum import KEEP, Enum, IntEnum, IntFlag, StrEnum
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.environments.values import MAX_DEPTH, MAX_PATHS, decimal_text, encode, encoded_digest, lossy_paths


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    L = 3


class Bits(IntFlag, boundary=KEEP):
    ONE = 1


Point = namedtuple("Point", "x y")  # noqa: PYI024 - the untyped kind is what users have


@dataclasses.dataclass
class Order:
    id: str
    cents: int


@dataclasses.dataclass
class Locked:
    name: str
    lock: object


class Opaque:
    pass


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")


class Broken(dict, Hostile):
    def items(self):
        raise RuntimeError("no")

    __repr__ = Hostile.__repr__


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        ('{"a": 1}', '{"a": 1}'),
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-7, "-7"),
        (1.5, "1.5"),
        (10.0, "10.0"),
        (1e20, "1e+20"),
        (0.0, "0.0"),
        (-0.0, '{"$float":"-0.0"}'),
        (math.nan, '{"$float":"NaN"}'),
        (math.inf, '{"$float":"Infinity"}'),
        (-math.inf, '{"$float":"-Infinity"}'),
        (2**53, "9007199254740992"),
        (2**53 + 1, '{"$int":"9007199254740993"}'),
        (-(2**63), '{"$int":"-9223372036854775808"}'),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", None], '[1,"a",null]'),
        ({"b": 1, "a": [True]}, '{"a":[true],"b":1}'),
        ((), '{"$tuple":[]}'),
        ((1, (2,)), '{"$tuple":[1,{"$tuple":[2]}]}'),
        ({3, 1, 2}, '{"$set":[1,2,3]}'),
        (frozenset(), '{"$set":[]}'),
        ({1: "a", "b": 2}, '{"$dict":[["b",2],[1,"a"]]}'),
        ({"$int": "5"}, '{"$dict":[["$int","5"]]}'),
        (b"ok \xff", "ok \udcff"),
        (bytearray(b"a"), "a"),
        (memoryview(b"a"), '{"$bytes":"YQ=="}'),
        (range(1, 10**12, 2), '{"$range":"1:1000000000000:2"}'),
        (deque([2, 1]), '{"$deque":[2,1]}'),
        ({"b": 1, "a": 2}.keys(), '{"$dict_keys":["b","a"]}'),
        ({"b": 1}.items(), '{"$dict_items":[{"$tuple":["b",1]}]}'),
        ({"b": 1}.values(), '{"$dict_values":[1]}'),
        (SimpleNamespace(b=1, a=2), '{"$type":"SimpleNamespace","fields":{"a":2,"b":1}}'),
        (Bits(3), '{"$enum":"Bits.ONE|2"}'),
        ([b"\x00\xff"], '[{"$bytes":"AP8="}]'),
        ([bytearray(b"a"), memoryview(b"a")], '[{"$bytes":"YQ=="},{"$bytes":"YQ=="}]'),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC), '{"$datetime":"2026-01-02T03:04:05.000006+00:00"}'),
        (dt.date(2026, 1, 2), '{"$date":"2026-01-02"}'),
        (dt.time(3, 4), '{"$time":"03:04:00"}'),
        (dt.timedelta(seconds=-1), '{"$timedelta_us":-1000000}'),
        (Decimal("1.10"), '{"$decimal":"1.10"}'),
        (Fraction(1, 3), '{"$fraction":"1/3"}'),
        (UUID(int=1), '{"$uuid":"00000000-0000-0000-0000-000000000001"}'),
        (PurePosixPath("a/b"), '{"$path":"a/b"}'),
        (PureWindowsPath("a\\b"), '{"$path":"a/b"}'),
        (1 + 2j, '{"$complex":"(1+2j)"}'),
        (Colour.RED, '{"$enum":"Colour.RED"}'),
        (Size.L, '{"$enum":"Size.L"}'),
        (Enum("Plain", "A").A, '{"$enum":"Plain.A"}'),
        (Point(1, 2), '{"$type":"Point","fields":{"x":1,"y":2}}'),
        (Order("W1", 5), '{"$type":"Order","fields":{"cents":5,"id":"W1"}}'),
        (Opaque(), '{"$lossy":["$"],"value":{"$repr":"<test_values.Opaque object>"}}'),
        (Hostile(), '{"$lossy":["$"],"value":{"$repr":"<Hostile whose repr raised RuntimeError>"}}'),
        (["\x00", "\ud835", "\u2028"], '["\\u0000","\ud835","\u2028"]'),
    ],
)
def test_a_value_has_exactly_this_text(value, text):
    assert encode(value).replace(f"{__name__}.", "test_values.") == text


def test_a_string_with_nul_and_half_a_pair_stays_itself():
    text = "a\x00b\ud835\x1b[31m"

    assert encode(text) == text


def test_a_container_that_contains_itself_says_where_and_of_what():
    endless: dict[str, object] = {"name": "x"}
    endless["items"] = [1, endless]

    assert encode(endless) == ('{"$lossy":["$.items[1]"],"value":{"items":[1,{"$cycle":"$"}],"name":"x"}}')


def test_the_same_object_twice_side_by_side_is_no_cycle():
    shared = [1]

    assert encode([shared, {"again": shared}]) == '[[1],{"again":[1]}]'


@pytest.mark.parametrize(
    ("around", "text"), [(lambda value: [value], ("[", "]")), (lambda value: {"a": value}, ('{"a":', "}"))]
)
def test_five_thousand_levels_are_written_whole(around, text):
    value = 0
    for _ in range(5000):
        value = around(value)

    assert encode(value) == text[0] * 5000 + "0" + text[1] * 5000


def test_a_value_that_makes_more_of_itself_is_cut_and_says_so():
    class Endless(Mapping):
        def __getitem__(self, key):
            return Endless()

        def __iter__(self):
            return iter("a")

        def __len__(self):
            return 1

    text = encode(Endless())

    assert lossy_paths(text) == ("$" + ".a" * MAX_DEPTH,)
    assert text.count('{"$deep":"Endless"}') == 1


def test_what_has_no_exact_text_is_marked_and_named_by_its_path():
    value = {"plain": 1, "odd key": [Locked("a", threading.Lock())], 7: {Opaque: open}}
    text = encode(value)

    assert lossy_paths(text) == ('$["odd key"][0].lock', "$[7][*]", "$[7][*]")
    assert json.loads(text)["value"]["$dict"][0][1] == [
        {"$type": "Locked", "fields": {"lock": {"$repr": "<unlocked _thread.lock object>"}, "name": "a"}}
    ]


def test_many_losses_are_counted_and_some_named():
    assert lossy_paths(encode([Opaque()] * 1000))[MAX_PATHS - 1 :] == ("$[49]", "and 950 more")


def test_a_part_that_cannot_be_looked_into_takes_nothing_else_with_it():
    text = encode({"bad": Broken(), "good": 1})

    assert text == ('{"$lossy":["$.bad"],"value":{"bad":{"$repr":"<Broken whose repr raised RuntimeError>"},"good":1}}')


@pytest.mark.parametrize("text", ["", "{}", '{"$lossy":', '{"$lossy":7}', '{"$lossy":[[', "x"])
def test_other_text_tells_of_no_loss(text):
    assert lossy_paths(text) == ()


class Same:
    """A number of numpy's shape."""

    dtype, shape = "float32", ()

    def tolist(self):
        return 0.10000000149011612


Same.__module__ = "numpy"


def test_a_number_of_numpy_keeps_its_type_and_its_exact_value():
    assert encode(Same()) == '{"$numpy":"float32","shape":[],"value":0.10000000149011612}'


def test_numpy_itself_is_written_exactly():
    numpy = pytest.importorskip("numpy")

    assert encode(numpy.float32(0.1)) == encode(Same())
    assert encode(numpy.float64(0.1)) == "0.1"
    assert encode(numpy.arange(4, dtype="int8").reshape(2, 2)) == (
        '{"$numpy":"int8","shape":[2,2],"value":[[0,1],[2,3]]}'
    )
    assert encode(numpy.datetime64("2026-01-02")) == (
        '{"$numpy":"datetime64[D]","shape":[],"value":{"$date":"2026-01-02"}}'
    )
    assert lossy_paths(encode([numpy.longdouble(1)])) == ("$[0]",)


def test_records_of_other_packages_are_written_by_their_fields():
    class Declared:
        __attrs_attrs__ = (SimpleNamespace(name="b"), SimpleNamespace(name="a"))
        a, b = 1, 2

    class Model:
        model_fields = ("a",)

        def __iter__(self):
            return iter([("b", 2), ("a", 1)])

    assert encode([Declared(), Model()]) == (
        '[{"$type":"Declared","fields":{"a":1,"b":2}},{"$type":"Model","fields":{"a":1,"b":2}}]'
    )


def test_sets_of_strings_have_one_text_under_every_hash_seed():
    program = "from spectrace.environments.values import encode; print(encode({'a','b','c',('d',),b'e'}))"

    outputs = {
        subprocess.run(  # each process hashes strings differently
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert outputs == {'{"$set":["a","b","c",{"$bytes":"ZQ=="},{"$tuple":["d"]}]}\n'}


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.just("$int"), inner),
)


def same(left, right):
    """Equal in type as well as in value: 1 is not True, 0.0 is not -0.0."""
    return type(left) is type(right) and repr(left) == repr(right)


@given(values, values)
def test_below_the_top_level_different_values_have_different_text(left, right):
    def ordered(value):
        match value:
            case dict():
                return {key: ordered(value[key]) for key in sorted(value)}
            case list() | tuple():
                return type(value)(ordered(item) for item in value)
        return value

    assert (encode([left]) == encode([right])) == same(ordered(left), ordered(right))


@given(values)
def test_text_is_strict_json_wherever_it_is_no_string_and_no_output_itself(value):
    def refuse(name):
        raise AssertionError(name)

    if not isinstance(value, str | bytes):
        json.loads(encode(value), parse_constant=refuse)


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_matter(value):
    assert encoded_digest(value) == encoded_digest(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "1.0"),
        (False, "0.0"),
        (1, "1.0"),
        (1.0, "1.0"),
        (-0.0, "0.0"),
        (0.5, "0.5"),
        (1e-7, "0.0000001"),
        (100, "100.0"),
        (-2.5, "-2.5"),
        (Decimal("0.250"), "0.25"),
    ],
)
def test_a_reward_is_a_plain_decimal_string(value, text):
    assert decimal_text(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, Decimal("sNaN")])
def test_a_reward_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="finite reward"):
        decimal_text(value)
