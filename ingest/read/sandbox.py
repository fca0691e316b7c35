"""How is a file read that may hang, crash or eat all memory?

PDFs, and large files that need a parser, are read by a worker process that can be killed; it stays
alive between files and is replaced after a failure.
"""

from __future__ import annotations

import atexit
import os
import pickle
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from ingest.errors import IngestError, ReadError, TimedOut
from ingest.read import media_type_of, pdf, plain, read, zip_kind
from ingest.read.ocr_page import Engine, Recognised, recognise_image, recognise_page
from ingest.read.pdf_text import pdf_boxes
from ingest.types import Box, ReadResult

MAX_MEMORY = 4_000_000_000
"""Address space of a worker in bytes, where the system can limit it."""
_WORKERS = 2
_SMALL = 200_000
"""Up to so many bytes, web pages, Markdown and Word files are read in this process; plain text always is."""
_LENGTH = 8

_DRAWING_SECONDS = 10.0
"""What drawing a page may take on top of reading it by OCR, which has its own limit."""

Answer = ReadResult | tuple[Box | Recognised, ...] | IngestError


class Sandbox:
    """A pool of up to `workers` worker processes, started when needed. Safe to use from several threads."""

    def __init__(self, workers: int = _WORKERS) -> None:
        self.times_closed = 0
        self._slots: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self._workers = [_Worker() for _ in range(workers)]
        for worker in self._workers:
            self._slots.put(worker)

    def read(self, data: bytes, name: str, timeout_seconds: float) -> ReadResult:
        """Read a file in a worker. Raises TimedOut, or a ReadError that says what is wrong."""
        answer = self._ask(("read", data, name), timeout_seconds)
        if not isinstance(answer, ReadResult):
            raise ReadError("The reader gave an answer of the wrong kind.")
        return answer

    def boxes(self, data: bytes, page_number: int, start: int, end: int, timeout_seconds: float) -> tuple[Box, ...]:
        """Do what `pdf_boxes` does, in a worker."""
        answer = self._ask(("boxes", data, page_number, start, end), timeout_seconds)
        return tuple(one for one in answer if isinstance(one, Box)) if isinstance(answer, tuple) else ()

    def recognise(self, data: bytes, number: int | None, engine: Engine, seconds: float) -> tuple[Recognised, ...]:
        """Read page `number` of a PDF by OCR, or a picture (None), in a worker; `seconds` is what OCR may take."""
        answer = self._ask(("ocr", data, number, engine, seconds), 2 * (seconds + _DRAWING_SECONDS))
        return tuple(one for one in answer if isinstance(one, Recognised)) if isinstance(answer, tuple) else ()

    def close(self) -> None:
        """End all workers, also those at work. The sandbox can be used again afterwards."""
        self.times_closed += 1
        for worker in self._workers:
            worker.stop()

    def _ask(self, request: tuple[object, ...], timeout_seconds: float) -> ReadResult | tuple[Box | Recognised, ...]:
        worker = self._slots.get()
        try:
            answer = worker.ask(request, timeout_seconds)
        finally:
            self._slots.put(worker)
        if isinstance(answer, IngestError):
            raise answer
        return answer


class _Worker:
    """One process, that is started at the first request and again after each failure."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: tuple[object, ...], timeout_seconds: float) -> Answer:
        process = self._started()
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout_seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            return _talk(process, request)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
            self.stop()
            if late.is_set():
                raise TimedOut(f"Reading took longer than {timeout_seconds:g} seconds.") from error
            raise ReadError("The reader crashed or ran out of memory on this file.") from error
        except BaseException:  # an interrupt leaves half an answer in the pipe: no use for the next request
            self.stop()
            raise
        finally:
            timer.cancel()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            # A plain child instead of multiprocessing, which would import the caller's main module once more.
            code = f"import sys; sys.path[:] = {sys.path!r}; from ingest.read.sandbox import serve; serve()"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process


def read_safely(path: Path, data: bytes, timeout_seconds: float) -> ReadResult:
    """Read `data`, the content of `path`: what may take long in a worker, which is killed after the timeout."""
    media_type = media_type_of(data, path.name)
    risky = media_type == pdf.MEDIA_TYPE or media_type in zip_kind.READERS
    if risky or (len(data) > _SMALL and media_type != plain.MEDIA_TYPE):
        return _sandbox.read(data, path.name, timeout_seconds)
    try:
        return read(data, path.name)
    except (RecursionError, MemoryError) as error:
        raise ReadError("The file is nested too deeply or too large to be read.") from error


def boxes_safely(data: bytes, page_number: int, start: int, end: int, timeout_seconds: float) -> tuple[Box, ...]:
    """Return what `pdf_boxes` returns, computed in a worker process."""
    return _sandbox.boxes(data, page_number, start, end, timeout_seconds)


def recognise_safely(data: bytes, number: int | None, engine: Engine, seconds: float) -> tuple[Recognised, ...]:
    """Return what `recognise_page` or, without a number, `recognise_image` returns, computed in a worker process."""
    return _sandbox.recognise(data, number, engine, seconds)


def times_closed() -> int:
    """Return how often the workers were told to end: what works through many pages ends with them."""
    return _sandbox.times_closed


def close() -> None:
    """End the worker processes; they start again when they are needed."""
    _sandbox.close()


def serve() -> None:
    """Answer requests until standard input ends. This is what a worker process runs."""
    _limit_memory()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    while (request := _receive(requests)) is not None:
        _send(answers, _answer(pickle.loads(request)))  # from our own parent only


def _answer(request: tuple[object, ...]) -> Answer:
    try:
        match request:
            case ("read", bytes(data), str(name)):
                return read(data, name)
            case ("boxes", bytes(data), int(number), int(start), int(end)):
                return pdf_boxes(data, number, start, end)
            case ("ocr", bytes(data), None, Engine() as engine, float(seconds)):
                return recognise_image(data, engine, seconds)
            case ("ocr", bytes(data), int(number), Engine() as engine, float(seconds)):
                return (recognise_page(data, number, engine, seconds),)
        return ReadError("The reader does not know this request.")
    except IngestError as error:
        return error.with_traceback(None)
    except MemoryError:
        return ReadError("Reading the file needs too much memory.")
    except Exception as error:  # noqa: BLE001 - whatever a parser raises is the file's failure
        return ReadError(f"The file is damaged: {type(error).__name__} while reading it.")


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def _talk(process: subprocess.Popen[bytes], request: tuple[object, ...]) -> Answer:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    _send(process.stdin, request)
    answer = _receive(process.stdout)
    if answer is None:
        raise EOFError
    received: object = pickle.loads(answer)
    if not isinstance(received, ReadResult | IngestError | tuple):
        raise ValueError(type(received).__name__)
    return received


def _send(stream: IO[bytes], value: object) -> None:
    packed = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(len(packed).to_bytes(_LENGTH, "big"))
    stream.write(packed)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None at the end of the stream."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    length = int.from_bytes(head, "big")
    packed = stream.read(length)
    return packed if len(packed) == length else None


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:
        return  # unsent bytes for a process that is gone


_sandbox = Sandbox()
atexit.register(close)
