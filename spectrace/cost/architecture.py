"""The shape of a model, and what follows from it: parameters, bytes read for a step, bytes of its caches.

Covers decoders with full attention, with gated delta net layers among them (GDN: a state per sequence in place of keys
and values per token) and with experts. The totals are checked against the makers' own in the tests.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A decoder. Counts are of weights, sizes in bytes; `source` says where the figures are from."""

    name: str
    source: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    """Width of the feed-forward layer, or of one expert."""
    vocab: int
    tied: bool
    """Whether the output layer is the embedding itself."""
    bytes_per_weight: float = 2
    kv_bytes: float = 2
    """Of one key or value."""
    full_layers: int | None = None
    """Layers with full attention; None is all of them."""
    gated: bool = False
    """Whether attention has an output gate as wide as its queries."""
    qkv_bias: bool = False
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0
    gdn_key_heads: int = 0
    gdn_value_heads: int = 0
    gdn_dim: int = 0
    gdn_conv: int = 0
    state_bytes: float = 4
    """Of one number of a GDN state."""

    @property
    def attention_layers(self) -> int:
        """Layers with full attention."""
        return self.layers if self.full_layers is None else self.full_layers

    @property
    def gdn_layers(self) -> int:
        """Layers with a state in place of keys and values."""
        return self.layers - self.attention_layers

    @property
    def embedding(self) -> int:
        """Weights of the embedding."""
        return self.vocab * self.hidden

    @property
    def expert(self) -> int:
        """Weights of one expert in all layers."""
        return self.layers * 3 * self.hidden * self.ffn if self.experts else 0

    @property
    def dense(self) -> int:
        """Weights of the body that every token passes, experts left out."""
        layers = self.attention_layers * self._attention() + self.gdn_layers * self._gdn()
        return layers + self.layers * (self._feed_forward() + 2 * self.hidden) + self.hidden

    @property
    def parameters(self) -> int:
        """All weights."""
        return self.dense + self.experts * self.expert + self.embedding * (1 if self.tied else 2)

    @property
    def active(self) -> int:
        """Weights that one token passes, the embedding counted."""
        return self.parameters - (self.experts - self.experts_per_token) * self.expert

    @property
    def dense_read(self) -> float:
        """Bytes read once a forward pass whatever the tokens: the body and the output layer; no experts.

        Of an embedding that is not the output layer only a row a token is read.
        """
        return (self.dense + self.embedding) * self.bytes_per_weight

    @property
    def expert_read(self) -> float:
        """Bytes of one expert in all layers."""
        return self.expert * self.bytes_per_weight

    @property
    def kv_per_token(self) -> float:
        """Bytes of keys and values that a token leaves behind."""
        return 2 * self.kv_heads * self.head_dim * self.attention_layers * self.kv_bytes

    @property
    def state(self) -> float:
        """Bytes of a sequence's GDN states."""
        return self.gdn_layers * self.gdn_value_heads * self.gdn_dim**2 * self.state_bytes

    def _attention(self) -> int:
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        projections = self.hidden * (queries * (3 if self.gated else 2) + 2 * keys)
        return projections + (queries + 2 * keys if self.qkv_bias else 0)

    def _gdn(self) -> int:
        keys, values = self.gdn_key_heads * self.gdn_dim, self.gdn_value_heads * self.gdn_dim
        projections = self.hidden * (2 * keys + 3 * values + 2 * self.gdn_value_heads)
        return projections + (2 * keys + values) * self.gdn_conv

    def _feed_forward(self) -> int:
        """Return a layer's feed-forward weights that every token passes: all, or the router and the shared experts."""
        one = 3 * self.hidden * self.ffn
        return self.hidden * self.experts + self.shared_experts * one if self.experts else one
