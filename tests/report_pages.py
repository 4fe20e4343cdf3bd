"""A report's page taken apart with html.parser: which elements and attributes it has, its tables, its texts."""

from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "br", "wbr", "link", "img", "input", "hr"}
ELEMENTS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "h1",
        "h2",
        "h3",
        "p",
        "dl",
        "dt",
        "dd",
        "nav",
        "ul",
        "ol",
        "li",
        "a",
        "span",
        "b",
        "strong",
        "em",
        "section",
        "div",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "pre",
        "code",
        "bdi",
        "br",
        "wbr",
        "figure",
        "figcaption",
        "svg",
        "rect",
        "line",
        "text",
        "desc",
    ]
)
ATTRIBUTES = frozenset(
    [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "aria-label",
        "aria-labelledby",
        "aria-hidden",
        "role",
        "scope",
        "data-l",
        "viewbox",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "width",
        "height",
        "text-anchor",
    ]
)


class Page(HTMLParser):
    """One page; every element must be closed in its order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: dict[str, str] = {}
        self.all_text = ""
        self._open: list[tuple[str, str | None]] = []
        self._table: list[list[str]] | None = None
        self._in_body = False
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute stands twice in {tag}"
        self.elements[tag] += 1
        self.attributes.update(given)
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "br":
            self.handle_data("\n")
        if tag in VOID:
            return
        self._open.append((tag, given.get("id")))
        if tag == "table":
            self._table = self.tables[given["id"]] = []
        if tag == "tbody":
            self._in_body = True
        if self._table is not None and self._in_body:
            if tag == "tr":
                self._table.append([])
            elif tag in {"td", "th"}:
                self._table[-1].append("")

    def handle_endtag(self, tag):
        opened, _ = self._open.pop()
        assert opened == tag, f"{opened} is closed by {tag}"
        if tag == "tbody":
            self._in_body = False
        if tag == "table":
            self._table = None

    def handle_data(self, data):
        self.all_text += data
        for _, id_ in self._open:
            if id_ is not None:
                self.texts[id_] = self.texts.get(id_, "") + data
        if self._table is not None and self._in_body and any(tag in {"td", "th"} for tag, _ in self._open):
            self._table[-1][-1] += data

    def handle_decl(self, decl):
        assert decl == "DOCTYPE html"

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data):
        raise AssertionError(f"an instruction: {data}")

    def column(self, table: str, place: int) -> list[str]:
        """Return a column's texts, blanks as one."""
        return [" ".join(row[place].split()) for row in self.tables.get(table, [])]

    def counts(self, table: str) -> dict[str, int]:
        """Return a table of names and numbers."""
        names, numbers = self.column(table, 0), self.column(table, 1)
        return {name: int(number.replace(",", "")) for name, number in zip(names, numbers, strict=True)}
