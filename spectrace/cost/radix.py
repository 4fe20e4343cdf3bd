"""A model of a server's radix prefix cache: how many tokens of a prompt need not be read again.

    cache = RadixCache()
    cache.prefill([1, 2, 3])           # 0: nothing was there
    cache.prefill([1, 2, 3, 4, 5])     # 3

One cache stands for one deployment of one model, and is asked in the order in which the calls began. Its rules are
SGLang's (measured against it in tests/live): a hit is the longest stored prefix, in whole pages; at least the last
token of a prompt is always read; prompt and answer are stored, but for the answer's last token, which was written and
never read; the leaf that was used longest ago goes first when there is no room. Other servers keep less (llama.cpp one
sequence a slot), so modelled and measured counts are two columns, never one.
"""

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from spectrace.errors import UsageError


@dataclass(slots=True, eq=False)
class _Node:
    """An edge of the tree with all that lies behind it."""

    key: tuple[int, ...]
    parent: "_Node | None"
    used: int = 0
    """When it was last the end of what was stored; what lies behind it may have been used later."""
    checkpoint: bool = False
    """Whether a recurrent state is kept at the end of the edge."""
    children: dict[tuple[int, ...], "_Node"] = field(default_factory=dict)


class RadixCache:
    """The prefix cache of one deployment.

    `checkpoint_every` is for hybrid models, whose recurrent layers (GDN, Mamba) have no state per token: None is full
    attention, where a prefix of any length can be reused; 0 keeps a state only where a prompt or an answer ended; n
    keeps one after every n tokens as well.
    """

    def __init__(
        self, page_size: int = 1, capacity_tokens: int | None = None, checkpoint_every: int | None = None
    ) -> None:
        """Start empty."""
        if page_size < 1 or (capacity_tokens or 0) < 0 or (checkpoint_every or 0) < 0:
            raise UsageError(
                "a prefix cache has pages of 1 token or more, room for 0 or more and checkpoints at 0 or more; "
                f"found {page_size}, {capacity_tokens} and {checkpoint_every}."
            )
        self._page, self._capacity, self._every = page_size, capacity_tokens, checkpoint_every
        self._root = _Node((), None)
        self._clock = 0
        self._stored: tuple[int, ...] = ()
        self._path: list[_Node] = []
        """The nodes of what was stored last: a prompt is mostly that and a little more, and is walked from there."""
        self._ends: list[int] = []
        """Where in it each of them ends."""
        self.tokens = 0
        """Tokens stored."""

    def match(self, ids: Sequence[int]) -> int:
        """Return how many leading tokens of a prompt would be found; nothing is stored."""
        return self._matched(tuple(ids))

    def prefill(self, ids: Sequence[int], output: Sequence[int] = ()) -> int:
        """Read a prompt, write an answer: return how many leading tokens of the prompt were found, and store both."""
        self._clock += 1
        prompt = tuple(ids)
        cached = self._matched(prompt)
        self._store(prompt)
        if output:
            self._store((*prompt, *output[:-1]))
        self._evict()
        return cached

    def _matched(self, ids: tuple[int, ...]) -> int:
        most = max(len(ids) - 1, 0) // self._page * self._page
        known = self._known(ids, most)
        node, depth = (self._path[known - 1], self._ends[known - 1]) if known else (self._root, 0)
        reusable = next((self._ends[place] for place in reversed(range(known)) if self._path[place].checkpoint), 0)
        while depth < most:
            child = node.children.get(ids[depth : depth + self._page])
            if child is None:
                break
            shared = min(_shared(child.key, ids, depth), most - depth) // self._page * self._page
            depth += shared
            if shared < len(child.key):
                break
            if child.checkpoint:
                reusable = depth
            node = child
        if self._every is None:
            return depth
        return max(reusable, depth // self._every * self._every if self._every else 0)

    def _store(self, ids: tuple[int, ...]) -> None:
        length = len(ids) // self._page * self._page
        known = self._known(ids, length)
        del self._path[known:], self._ends[known:]
        self._stored = ids
        node, depth = (self._path[-1], self._ends[-1]) if known else (self._root, 0)
        while depth < length:
            first = ids[depth : depth + self._page]
            child = node.children.get(first)
            if child is None:
                child = _Node(ids[depth:length], node)
                node.children[first] = child
                self.tokens += length - depth
            shared = min(_shared(child.key, ids, depth), length - depth) // self._page * self._page
            if shared < len(child.key):
                child = self._split(child, shared)
            node, depth = child, depth + shared
            self._path.append(node)
            self._ends.append(depth)
        node.used = self._clock
        node.checkpoint = node is not self._root

    def _known(self, ids: tuple[int, ...], most: int) -> int:
        """Return how many nodes of what was stored last these ids pass as well, in their first `most`."""
        known, up_to, same = 0, bisect_right(self._ends, most), 0
        while known < up_to:
            tried = (known + up_to + 1) // 2
            end = self._ends[tried - 1]
            if ids[same:end] == self._stored[same:end]:
                known, same = tried, end
            else:
                up_to = tried - 1
        return known

    def _split(self, node: _Node, at: int) -> _Node:
        """Cut an edge in two; return the upper one, at whose end no state is known."""
        upper = _Node(node.key[:at], node.parent, node.used)
        if node.parent is not None:
            node.parent.children[upper.key[: self._page]] = upper
        node.key, node.parent = node.key[at:], upper
        upper.children[node.key[: self._page]] = node
        return upper

    def _evict(self) -> None:
        if self._capacity is None or self.tokens <= self._capacity:
            return
        self._path, self._ends = [], []
        order = count()  # nodes do not compare
        leaves = [(leaf.used, next(order), leaf) for leaf in self._leaves()]
        heapq.heapify(leaves)
        while leaves and self.tokens > self._capacity:
            _, _, leaf = heapq.heappop(leaves)
            parent = leaf.parent
            if parent is None:
                break
            del parent.children[leaf.key[: self._page]]
            self.tokens -= len(leaf.key)
            parent.used = max(parent.used, leaf.used)
            if not parent.children and parent is not self._root:
                heapq.heappush(leaves, (parent.used, next(order), parent))

    def _leaves(self) -> list[_Node]:
        found, waiting = [], [self._root]
        while waiting:
            node = waiting.pop()
            waiting += node.children.values()
            if not node.children and node is not self._root:
                found.append(node)
        return found


def _shared(key: tuple[int, ...], ids: tuple[int, ...], start: int) -> int:
    """Return how many tokens of an edge stand in `ids` from `start` on."""
    there = ids[start : start + len(key)]
    if there == key:  # most often; and compared in C
        return len(key)
    return next((n for n, (one, other) in enumerate(zip(key, there, strict=False)) if one != other), len(there))
