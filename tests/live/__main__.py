"""`python -m tests.live`: what shared prompts save and cost, and what scored verdicts agree with, on real models.

Prints the tables and writes RESULTS.md; half an hour on two cores. SGLang serves the small model here, so its counts
mean something and its judgement little; the planted errors are put to the local strong model.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from spectrace.core.types import ModelFacts
from spectrace.models.client import ModelClient
from spectrace.models.local import LocalClient
from spectrace.models.sglang import SGLangClient
from tests.benchmarks import machine
from tests.live import flips, verdicts
from tests.live.planted import PLANTED
from tests.live.prefill import ALONE, LAYOUTS, Prefill, prefills
from tests.live.sglang_server import server

RESULTS = Path(__file__).with_name("RESULTS.md")
MOVING = 12
"""Segments that are scored under load."""
Counts = Mapping[str, Mapping[str, tuple[int, int]]]


async def prefill(url: str) -> list[str]:
    """Strong prompt tokens that are read anew, by layout."""
    found = {layout: await prefills(url, layout) for layout in (*LAYOUTS, ALONE)}
    rows = [[layout, one.task, *_numbers(one)] for layout, listed in found.items() for one in listed]
    rows += [[layout, "**all**", *_numbers(*listed)] for layout, listed in found.items()]
    anew = {layout: sum(one.measured for one in listed) for layout, listed in found.items()}
    ratios = [f"{layout} {anew[layout] / anew['separate']:.2f}" for layout in ("shared", ALONE)]
    return [
        "## Strong prefill, shared and separate prompts (SGLang)",
        "",
        *_table(("layout", "task", "corrective turns", "calls", "prompt", "read anew, measured", "modelled"), rows),
        "",
        f"Of what separate reads anew: {', '.join(ratios)}. Scripted drafts and verdicts; emptied before each layout.",
    ]


def _numbers(*listed: Prefill) -> list[str]:
    names = ("corrective", "calls", "prompt", "measured", "modelled")
    return [str(sum(getattr(one, name) for one in listed)) for name in names]


async def planted(_: str) -> list[str]:
    """Planted errors under both layouts, by the local strong model."""
    client = LocalClient("strong")
    found = await _asked(client, lambda model: _by_layout(client, model))
    return ["## Planted errors, shared and separate prompts (local strong model)", "", *_counts(found)]


async def _by_layout(client: ModelClient, model: ModelFacts) -> Counts:
    return {layout: verdicts.recall(await verdicts.decoded(client, model, layout, PLANTED)) for layout in LAYOUTS}


async def manners(url: str) -> list[str]:
    """Decoded and scored verdicts on the planted errors, by SGLang's small model."""
    client = SGLangClient(server.NAME, url)
    found = await _asked(client, lambda model: _by_manner(client, model))
    return ["## Decoded and scored verdicts (SGLang, the small model, threshold 0.5)", "", *_counts(found)]


async def _by_manner(client: ModelClient, model: ModelFacts) -> Counts:
    decoded = await verdicts.decoded(client, model, "shared", PLANTED)
    scored = await verdicts.scored(client, model, PLANTED)
    return {
        "decoded": verdicts.recall(decoded),
        "scored": verdicts.recall(scored),
        "both": verdicts.agreement(decoded, scored),
    }


async def _asked(client: ModelClient, ask: Callable[[ModelFacts], Awaitable[Counts]]) -> Counts:
    try:
        return await ask(replace(await client.facts(), role="strong"))
    finally:
        await client.close()


async def moving(_: str) -> list[str]:
    """Scored verdicts alone and under load, by servers of their own in either precision."""
    found = {}
    for dtype in flips.DTYPES:
        with server.running(dtype=dtype, flags=flips.CHUNKS) as url:
            found[dtype] = flips.totals(await flips.moved(url, PLANTED[:MOVING]))
    rows = [[name, *(one[name] for one in found.values())] for name in found[flips.DTYPES[0]]]
    return [
        "## Scored verdicts under load (SGLang, the small model)",
        "",
        *_table(("", *found), rows),
        "",
        f"{MOVING} segments, alone and {flips.LOADS} times beside the others; prefill in pieces of {flips.CHUNKS[1]}.",
    ]


def _counts(found: Counts) -> list[str]:
    names = list(dict.fromkeys(name for counts in found.values() for name in counts))
    rows = [[name, *(_share(counts.get(name)) for counts in found.values())] for name in names]
    return _table(("", *found), rows)


def _share(count: tuple[int, int] | None) -> str:
    return "" if count is None else f"{count[0]} of {count[1]}"


def _table(heads: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    return [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


SECTIONS: Mapping[str, Callable[[str], Awaitable[list[str]]]] = {
    "prefill": prefill,
    "planted": planted,
    "manners": manners,
    "moving": moving,
}


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(SECTIONS), help="these tables only; nothing is written")
    parser.add_argument("--sglang", help="the URL of a server that runs already")
    options = parser.parse_args()
    if options.sglang:
        found = asyncio.run(_measured(options.sglang, options.only))
    else:
        with server.running() as url:
            found = asyncio.run(_measured(url, options.only))
    if not options.only:
        facts = [f"- {name}: {value}" for name, value in machine.facts()]
        RESULTS.write_text("\n".join(["# Measured on real models", "", *facts, *found, ""]), encoding="utf-8")
    return 0


async def _measured(url: str, only: list[str] | None) -> list[str]:
    lines: list[str] = []
    for name, section in SECTIONS.items():
        if not only or name in only:
            found = await section(url)
            print("\n".join(["", *found]), flush=True)  # noqa: T201 - what it is for
            lines += ["", *found]
    return lines


if __name__ == "__main__":
    sys.exit(main())
