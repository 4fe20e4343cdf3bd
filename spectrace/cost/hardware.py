"""What an accelerator can do, and the batch at which decoding stops being bound by memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from spectrace.errors import UsageError

BYTES: Mapping[str, float] = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
"""Of one weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """One device. `source` says where the figures are from."""

    name: str
    source: str
    bandwidth: float
    """Bytes a second out of its memory."""
    flops: Mapping[str, float]
    """Kind of number -> dense FLOP a second."""


def balance_point(hardware: Hardware, dtype: str = "bf16") -> float:
    """Return how many sequences a dense model decodes at once before arithmetic takes longer than reading the weights.

    A weight is read once a step and costs 2 FLOP for each sequence. Past this Assumption 1 (decoding is bound by
    memory) fails: what a review adds in FLOPs begins to cost time. Splitting a model over devices changes nothing.
    """
    if dtype not in hardware.flops or dtype not in BYTES:
        raise UsageError(f"{hardware.name} states no FLOP a second for {dtype!r}; it has {', '.join(hardware.flops)}.")
    return hardware.flops[dtype] * BYTES[dtype] / (2 * hardware.bandwidth)
