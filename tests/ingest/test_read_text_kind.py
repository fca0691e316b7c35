"""Text formats are told apart by content; nothing that is in a file makes reading it hang."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunk import chunk_document
from ingest.errors import IngestError, TooLarge, Unsupported
from ingest.read import media_type_of, read, verbatim
from ingest.read.sandbox import read_safely
from tests.ingest.text_samples import (
    CSV,
    FRONT,
    LATEX,
    MAIL,
    MEMO,
    PROSE,
    PYTHON,
    RST,
    RTF,
    C,
    check_chunks,
)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (PROSE, "a.txt", "text/plain"),
        (PROSE, "a.csv", "text/csv"),
        (PROSE.replace(", ", " "), "a.csv", "text/plain"),
        (PROSE, "a.json", "text/plain"),
        (PROSE, "a.eml", "text/plain"),
        (PROSE, "a.rtf", "text/plain"),
        (PROSE, "a.log", "text/plain"),
        (PROSE, "README", "text/plain"),
        ("床前明月光，疑是地上霜。\n举头望明月，低头思故乡。\n", "a.txt", "text/plain"),
        ("Roses are red,\nViolets are blue,\nSugar is sweet,\n", "a.txt", "text/plain"),
        ("\tindented\n\ttext\n\there\n", "a.txt", "text/plain"),
        (MEMO, "a.txt", "text/plain"),
        (MEMO, "a.eml", "message/rfc822"),
        (MAIL, "a.txt", "message/rfc822"),
        (MAIL, "a", "message/rfc822"),
        (MAIL, "a.md", "text/markdown"),
        ("a,b\n1,2\n3,4\n5,6\n", "a.txt", "text/csv"),
        ("a\tb\n1\t2\n3\t4\n", "a.dat", "text/csv"),
        ("a,b\n1,2\n3,4\n5,6\n", "a.json", "text/csv"),
        ('{"a": 1}', "a.csv", "application/json"),
        ('[{"a": 1}]', "a.md", "application/json"),
        ("[1] a footnote\n", "a.txt", "text/plain"),
        ("[[link]] to a page\n", "a.txt", "text/plain"),
        ("{\\rtf1 x}", "a.txt", "application/rtf"),
        ("<!-- x --><!DOCTYPE html><p>x", "a.txt", "text/html"),
        (LATEX, "a.txt", "text/x-tex"),
        (RST, "a.rst", "text/x-rst"),
        ("#!/usr/bin/env python3\nprint()\n", "run", "text/x-python"),
        ("#!/bin/sh\nls\n", "run", "text/x-shellscript"),
        ('<?xml version="1.0"?><a/>', "a.foo", "application/xml"),
        ("{}\n", "a.js", "text/javascript"),
        ("x = 1\n", "A.PY", "text/x-python"),
    ],
)
def test_content_decides_and_the_name_where_it_does_not(text: str, name: str, expected: str) -> None:
    assert media_type_of(text.encode(), name) == expected
    for encoding in ("utf-8-sig", "utf-16"):
        assert media_type_of(text.encode(encoding), name) == expected


@pytest.mark.parametrize("name", ["a.svg", "a.bin", "a", "a.csv", "a.json", "a.py", "a.eml"])
def test_binary_files_stay_unsupported(name: str) -> None:
    with pytest.raises(Unsupported):
        read(bytes(range(256)) * 20 if name != "a.svg" else b"<svg/>", name)


# -- limits


@pytest.mark.parametrize(
    ("piece", "name"),
    [
        (b"a,", "a.csv"), (b'"', "a.csv"), (b'"a",', "a.csv"), (b'"a\n', "a.csv"), (b'"""\n', "a.csv"),
        (b"[", "a.json"), (b'{"a":', "a.json"), (b'"a",', "a.json"), (b" ", "a.txt"), (b" ", "a.csv"),
        (b"\\section{", "a.tex"), (b"\\begin{tabular}", "a.tex"), (b"{", "a.tex"), (b"=\n", "a.rst"),
        (b"a\n=\n", "a.rst"), (b"+-+\n", "a.rst"), (b"a b ", "a.c"), (b"def a(", "a.py"), (b"a <", "a.c"),
        (b"@\n", "a.py"), (b"{\\rtf", "a.rtf"), (b"{\\rtf1\\'41", "a.rtf"), (b"a: b\n", "a.eml"),
        (b"From: a\n ", "a.eml"), (b"<!--", "a.txt"), (b"<!-- -->", "a.txt"), (b"a:", "a.eml"),
        (b"\\documentclass", "a.txt"), (b"---\n", "a.md"), (b"\n%", "a.txt"),
    ],
)  # fmt: skip
def test_what_is_repeated_without_end_takes_seconds_at_most(piece: bytes, name: str) -> None:
    data = b"x\n\n" * (piece == b" ") + piece * (100_000 // len(piece)) + b"\nx"
    started = time.process_time()
    with contextlib.suppress(IngestError):
        chunk_document("d", 1, read(data, name))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl", "a.tex", "a.py"])
def test_a_text_over_the_limit_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbatim, "MAX_CHARACTERS", 1000)
    with pytest.raises(TooLarge, match="1,000"):
        read(b"a,b\n" * 300, name) if name == "a.csv" else read(b'{"a": 1}\n' * 300, name)


def test_large_structured_text_is_read_where_it_can_be_stopped(tmp_path: Path) -> None:
    data = b'{"a": [' + b'{"b": 1},' * 100_000 + b"{}]}"
    assert read_safely(tmp_path / "a.json", data, 60).text.startswith("a[0].b: 1")


SAMPLES = [
    (RTF, "a.rtf"), (CSV.encode(), "a.csv"), (RST.encode(), "a.rst"), (LATEX.encode(), "a.tex"), (C.encode(), "a.c"),
    (PYTHON.encode(), "a.py"), (MAIL.encode(), "a.eml"), (FRONT.encode(), "a.md"),
    (b'[{"a": [1, {"b": "c"}]}]', "a.json"),
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    sample, name = data.draw(st.sampled_from(SAMPLES))
    start = data.draw(st.integers(0, len(sample)))
    end = data.draw(st.integers(start, len(sample)))
    damaged = sample[:start] + data.draw(st.binary(max_size=6)) + sample[end:]
    try:
        result = read(damaged, data.draw(st.sampled_from([name, "a.txt", "a"])))
    except IngestError:
        return
    check_chunks(result)
