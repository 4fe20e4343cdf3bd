"""What the listings of an audit share: which episodes they are about, and their counts by kind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.cli import console
from spectrace.cli.options import moment
from spectrace.cli.select import chosen
from spectrace.errors import UsageError

TOLD_EVERY = 20


def episodes_of(reader: Reader, episodes: Sequence[str], filters: Filters, *, every: bool) -> list[str]:
    """Return the episodes that were chosen, or all: where there is none, there is nothing to list."""
    if episodes or every or filters != Filters():
        return chosen(reader, episodes, every, filters)
    return [one.episode for one in reader.iter_episodes(Filters(sort="started_at"))]


def between(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Return a period; raise UsageError for one that ends before it begins: nothing would look like an answer."""
    low, high = moment(since), moment(until)
    if low is not None and high is not None and low > high:
        raise UsageError(f"--since {since} lies behind --until {until}: say them the other way round.")
    return low, high


def counts(kinds: Iterable[str], meaning: Mapping[str, str]) -> None:
    """Write how many of each kind there are, with what it means, below a table."""
    found = Counter(kinds)
    if found:
        console.line()
    widest = max(map(len, found), default=0)
    for kind, sentence in meaning.items():
        if found[kind]:
            console.line(f"{found[kind]:>6}  ", (kind.ljust(widest), "warning"), f"  {sentence}", hang=widest + 10)
