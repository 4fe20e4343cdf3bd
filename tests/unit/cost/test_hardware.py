import pytest

from spectrace.cost.hardware import Hardware, balance_point
from spectrace.cost.profiles import HARDWARE
from spectrace.errors import UsageError


@pytest.mark.parametrize("dtype", ["bf16", "fp8"])
def test_37_sequences_balance_an_h20(dtype):
    assert balance_point(HARDWARE["H20"], dtype) == pytest.approx(37.0)


def test_slower_memory_moves_the_balance_to_more_sequences():
    slow = Hardware(name="slow", source="made up", bandwidth=1.0e12, flops={"bf16": 148e12})

    assert balance_point(slow) == pytest.approx(148.0)


def test_a_kind_of_number_that_a_device_states_nothing_for_is_refused():
    with pytest.raises(UsageError, match=r"H20 states no FLOP a second for 'int4'; it has bf16, fp16, fp8"):
        balance_point(HARDWARE["H20"], "int4")
