"""Which files does a synthetic folder hold? Some of every kind that the program reads, in two languages."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from docx import Document

from eval.bench.corpus import Language, Section, ZipfText
from eval.bench.pdf import write_pdf

MOST_SECTIONS, SECTION_WORDS = 8, 150
PDF_LONGER = 4
"""A PDF has so many times the sections of another file."""
CHINESE_EVERY = 3
"""One file in so many is Chinese."""

Sections = Sequence[Section]


def write_files(folder: Path, count: int, seed: int) -> Path:
    """Write `count` files, the same for the same seed, and return their folder."""
    writers = {language: ZipfText(language, seed) for language in ("en", "zh")}
    kinds = list(KINDS)
    for number in range(count):
        turn = number + number // len(kinds)  # so that every kind comes in both languages
        language: Language = "zh" if turn % CHINESE_EVERY == CHINESE_EVERY - 1 else "en"
        suffix = kinds[number % len(kinds)]
        text = writers[language]
        title = text.title()
        sections = (1 + number % MOST_SECTIONS) * (PDF_LONGER if suffix == ".pdf" else 1)
        data = KINDS[suffix](title, text.sections(sections, SECTION_WORDS), language)
        path = folder / language / f"{number:05d}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def _pdf(title: str, sections: Sections, language: Language) -> bytes:
    return write_pdf(title, sections, chinese=language == "zh")


def _docx(title: str, sections: Sections, language: Language) -> bytes:
    document = Document()
    document.add_heading(title, 1)
    for section in sections:
        document.add_heading(section.heading, 2)
        for paragraph in section.paragraphs:
            document.add_paragraph(paragraph)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _markdown(title: str, sections: Sections, language: Language) -> bytes:
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {section.heading}", *section.paragraphs]
    return "\n\n".join(parts).encode() + b"\n"


def _rst(title: str, sections: Sections, language: Language) -> bytes:
    parts = [f"{title}\n{'=' * 2 * len(title)}"]
    for section in sections:
        parts += [f"{section.heading}\n{'-' * 2 * len(section.heading)}", *section.paragraphs]
    return "\n\n".join(parts).encode() + b"\n"


def _plain(title: str, sections: Sections, language: Language) -> bytes:
    return "\n\n".join([title, *(part for one in sections for part in (one.heading, *one.paragraphs))]).encode()


def _html(title: str, sections: Sections, language: Language) -> bytes:
    body = [f"<h1>{html.escape(title)}</h1>"]
    for section in sections:
        body.append(f"<h2>{html.escape(section.heading)}</h2>")
        body += [f"<p>{html.escape(paragraph)}</p>" for paragraph in section.paragraphs]
    head = f'<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
    return f'<!doctype html><html lang="{language}">{head}<body>{"".join(body)}</body></html>'.encode()


def _csv(title: str, sections: Sections, language: Language) -> bytes:
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["section", "number", "text"])
    for section in sections:
        rows.writerows([section.heading, number, text] for number, text in enumerate(section.paragraphs, 1))
    return out.getvalue().encode()


def _json_lines(title: str, sections: Sections, language: Language) -> bytes:
    records = [{"title": one.heading, "text": "\n".join(one.paragraphs), "language": language} for one in sections]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _mail(title: str, sections: Sections, language: Language) -> bytes:
    head = "From: a@example.org\nTo: b@example.org\nSubject: report\nMIME-Version: 1.0\n"
    kind = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    return (head + kind).encode() + _plain(title, sections, language)


KINDS: dict[str, Callable[[str, Sections, Language], bytes]] = {
    ".pdf": _pdf, ".md": _markdown, ".docx": _docx, ".html": _html, ".txt": _plain, ".csv": _csv, ".rst": _rst,
    ".jsonl": _json_lines, ".eml": _mail,
}  # fmt: skip
"""How a file is written, by its suffix."""
