"""FLOPs and memory traffic of a model call, from token counts and an architecture.

Memory traffic is what is read of weights, keys, values and states ("HBM-read"), for one sequence alone: where a server
decodes several at once they share the weights' part. Of a model with experts it is a range: which ones a prompt's
tokens were routed to is in no log, so it is read between those of one token and as many as the tokens can choose.
"""

from dataclasses import dataclass

from spectrace.cost.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Work:
    """FLOPs, and bytes read at least and at most."""

    flops: float = 0.0
    hbm_read_low: float = 0.0
    hbm_read_high: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        """Do both."""
        return Work(
            self.flops + other.flops,
            self.hbm_read_low + other.hbm_read_low,
            self.hbm_read_high + other.hbm_read_high,
        )


def prefill(model: Architecture, new: int, cached: int = 0) -> Work:
    """Return the work of reading `new` tokens after `cached` ones, in one pass."""
    if new <= 0:
        return Work()
    around = model.dense_read + model.kv_per_token * (cached + new) + model.state
    least, most = model.experts_per_token, min(model.experts, model.experts_per_token * new)
    return Work(
        _flops(model, new, new * cached + new * (new + 1) // 2),
        around + least * model.expert_read,
        around + most * model.expert_read,
    )


def decode(model: Architecture, tokens: int, context: int) -> Work:
    """Return the work of writing `tokens` after `context` ones, one a pass; a token's experts are read each time."""
    if tokens <= 0:
        return Work()
    seen = tokens * context + tokens * (tokens - 1) // 2
    step = model.dense_read + model.experts_per_token * model.expert_read + model.state
    read = tokens * step + model.kv_per_token * seen
    return Work(_flops(model, tokens, seen + tokens), read, read)


def call_work(model: Architecture, prompt: int, cached: int, output: int) -> Work:
    """Return the work of one call: the prompt's uncached tokens are read, then the answer is written."""
    return prefill(model, prompt - cached, cached) + decode(model, output, prompt)


def expected_experts(model: Architecture, tokens: int) -> float:
    """Return how many experts of a layer `tokens` choose between them, if they choose alike and at random."""
    if not model.experts:
        return 0.0
    return model.experts * (1 - (1 - model.experts_per_token / model.experts) ** tokens)


def _flops(model: Architecture, tokens: int, attended: int) -> float:
    """Return 2 FLOP a weight and token, and attention over what each token sees (`attended` in sum)."""
    attention = 4 * model.attention_layers * model.heads * model.head_dim * attended
    states = 4 * model.gdn_layers * model.gdn_value_heads * model.gdn_dim**2 * tokens
    return 2.0 * model.active * tokens + attention + states
