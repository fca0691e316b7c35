"""What does a fault of the endpoint mean: which kind is it, may it be repeated, what may be shown of it?"""

from __future__ import annotations

from types import TracebackType

from app.errors import ModelError
from app.llm.text import redact

__all__ = ["Boundary", "EndpointFault", "Unfinished"]

RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may pass by themselves, as in the official client."""

KINDS = {401: "auth", 403: "auth", 402: "payment", 404: "not_found", 408: "timeout", 429: "rate_limit"}


ErrorClass = type[BaseException] | None


class EndpointFault(ModelError):
    """A failed call. `retry_after`: seconds that the endpoint asks to wait; `calls`: requests made in all."""

    def __init__(self, message: str, *, retryable: bool, kind: str, wait: float = 0.0, calls: int = 1) -> None:
        super().__init__(message, retryable=retryable, kind=kind, calls=calls)
        self.retry_after = wait


class Unfinished(Exception):
    """A reply that came without an error, and yet is none: empty, or without its end."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Boundary:
    """Lets no exception but `EndpointFault` out, and no key in its text.

    Why not a list of exception classes: a reply that is not what it should be surfaces from the client
    library as `ValueError`, `IndexError`, `KeyError`, `TypeError` and more, none of them the library's own.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def __enter__(self) -> Boundary:
        return self

    def __exit__(self, kind: ErrorClass, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, EndpointFault):
            # `from None`: the original's text may hold the key, and would be printed with a traceback.
            raise _translated(error, self._secret) from None


def _retry_after(error: BaseException) -> float:
    """Return the seconds that the endpoint asks to wait, 0 if it asks nothing or for a time that is past."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(0.0, float(headers.get("retry-after", 0.0)))
    except ValueError:
        return 0.0


def _translated(error: Exception, secret: str) -> EndpointFault:
    status = getattr(error, "status_code", None)
    kind, retryable = _by_status(status) if isinstance(status, int) else _by_class(error)
    reason = redact(str(error), secret) or type(error).__name__
    text = f"the model endpoint failed ({kind}): {reason}"
    return EndpointFault(text, retryable=retryable, kind=kind, wait=_retry_after(error))


def _by_status(status: int) -> tuple[str, bool]:
    if status >= 500:
        return "server", True
    return KINDS.get(status, "redirect" if 300 <= status < 400 else "rejected"), status in RETRYABLE_STATUS


def _by_class(error: Exception) -> tuple[str, bool]:
    name = type(error).__name__
    if isinstance(error, Unfinished):
        return error.kind, True
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "timeout", True
    if isinstance(error, OSError) or "Connection" in name or "Protocol" in name:
        return "connection", True
    return "malformed", True
