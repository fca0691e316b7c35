from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingest.errors import IngestError, ReadError, TimedOut
from ingest.read.sandbox import Sandbox, read_safely


def make_pdf(text: str, repeat: int = 1) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for _ in range(repeat):
        canvas.drawString(72, 700, text)
    canvas.save()
    return buffer.getvalue()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(workers=1)
    yield sandbox
    sandbox.close()


def pid(sandbox: Sandbox) -> int:
    process = sandbox._workers[0]._process
    assert process is not None
    return process.pid


def test_a_pdf_is_read_and_the_worker_stays(sandbox: Sandbox) -> None:
    assert sandbox.read(make_pdf("one"), "a.pdf", 60).text == "one"
    first = pid(sandbox)
    assert sandbox.read(make_pdf("two"), "a.pdf", 60).text == "two"
    assert pid(sandbox) == first


def test_what_takes_too_long_is_killed_and_the_next_file_is_read(sandbox: Sandbox) -> None:
    sandbox.read(make_pdf("warm"), "a.pdf", 60)
    slow = make_pdf("many words on one page", 300_000)
    with pytest.raises(TimedOut):
        sandbox.read(slow, "a.pdf", 0.05)
    assert sandbox.read(make_pdf("next"), "a.pdf", 60).text == "next"


def test_a_crash_fails_one_file(sandbox: Sandbox) -> None:
    sandbox.read(make_pdf("warm"), "a.pdf", 60)
    victim = pid(sandbox)
    slow = make_pdf("many words on one page", 300_000)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(sandbox.read, slow, "a.pdf", 60)
        time.sleep(0.05)
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(ReadError, match="crashed"):
            reading.result()
    assert sandbox.read(make_pdf("next"), "a.pdf", 60).text == "next"


def test_errors_of_the_reader_arrive(sandbox: Sandbox) -> None:
    with pytest.raises(ReadError, match="damaged"):
        sandbox.read(b"%PDF-1.7 rubbish", "a.pdf", 60)


def test_boxes_come_from_the_worker_too(sandbox: Sandbox) -> None:
    assert len(sandbox.boxes(make_pdf("one"), 1, 0, 3, 60)) == 1
    with pytest.raises(IngestError, match="no page 9"):
        sandbox.boxes(make_pdf("one"), 9, 0, 3, 60)


def test_text_is_read_here(tmp_path: Path) -> None:
    assert read_safely(tmp_path / "a.txt", b"words", 60).text == "words"


def test_a_program_without_a_main_guard_can_use_it() -> None:
    code = "import sys; from pathlib import Path; from ingest.read.sandbox import read_safely; "
    code += "print(read_safely(Path('a.pdf'), sys.stdin.buffer.read(), 60).text)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=make_pdf("alone"), capture_output=True, check=True, timeout=60
    )
    assert done.stdout.strip() == b"alone"
