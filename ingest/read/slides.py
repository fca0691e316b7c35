"""How do slides become a text with pages? Each is a page and a section of its own, its notes below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ingest.errors import ReadError
from ingest.read.builder import Builder
from ingest.types import Heading, Page, ReadResult, Span

NOTES = "Notes"
"""Under this heading stand speaker notes. It is no part of the text: a quotation holds what the file says."""


@dataclass(slots=True)
class SlideShow:
    """The slides so far, hidden ones too; `failed` are those that could not be read, counted from 1."""

    builder: Builder = field(default_factory=Builder)
    pages: list[Page] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    _first_title: str | None = None

    def add(self, label: str, title: str, fill: Callable[[Builder], None], notes: Iterable[str]) -> None:
        """Append a slide: its title, what `fill` appends, its notes. One without title is headed by its label."""
        builder = self.builder
        builder.end_table()
        first = len(builder.blocks)
        builder.add(title, level=1)
        titled = len(builder.blocks) > first
        if titled:
            self._first_title = self._first_title or builder.headings[-1].title
        fill(builder)
        builder.end_table()
        noted = len(builder.blocks)
        for note in notes:
            builder.add(note)
        blocks = builder.blocks
        if not titled and len(blocks) > first:
            builder.headings.append(Heading(1, f"Slide {label}", blocks[first].start))
        if len(blocks) > noted > first:
            builder.headings.append(Heading(2, NOTES, blocks[noted].start))
        span = (
            Span(blocks[first].start, builder.length) if len(blocks) > first else Span(builder.length, builder.length)
        )
        self.pages.append(Page(len(self.pages) + 1, label, span))

    def add_failed(self, label: str) -> None:
        """Append a slide that cannot be read, as an empty page."""
        self.failed.append(len(self.pages) + 1)
        self.add(label, "", lambda _: None, ())

    def result(self, media_type: str, title: str | None, date: str | None, tags: tuple[str, ...]) -> ReadResult:
        """Return all of it; the title of the first slide where the file has none. Raises ReadError if all failed."""
        if self.failed and len(self.failed) == len(self.pages):
            raise ReadError("The presentation is damaged: none of its slides can be read.")
        return ReadResult(
            text=self.builder.text,
            media_type=media_type,
            title=title or self._first_title,
            date=date,
            pages=tuple(self.pages),
            headings=tuple(self.builder.headings),
            blocks=tuple(self.builder.blocks),
            failed_pages=tuple(self.failed),
            table_headers=tuple(self.builder.table_headers),
            tags=tags,
        )
