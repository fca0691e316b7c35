"""What can go wrong while a question is answered?

CitedragError
├── NotConfigured        something must be set first
├── RunNotFound          no run has this id
├── Conflict             the run is not in the state that the request needs
├── InvalidPlan          a task of an edited plan is not right; says which
└── ModelError           the model endpoint failed; says whether another try may help
"""

from __future__ import annotations

from typing import Any


class CitedragError(Exception):
    """Base of everything that answering raises; the message says what to do next."""


class NotConfigured(CitedragError):
    """Something must be set before this works."""


class RunNotFound(CitedragError):
    """No run has this id."""


class Conflict(CitedragError):
    """The run is in another state. `stored` is the decision that its row holds, if any."""

    def __init__(self, code: str, detail: str, stored: dict[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.stored = stored


class InvalidPlan(CitedragError):
    """An edited plan is not right. `index` is the first wrong task's, from 0; nothing was changed."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(f"task {index}: {message}")
        self.index = index
        self.message = message


class ModelError(CitedragError):
    """The endpoint failed. `kind` is a short code; the text holds no key.

    `retryable` says whether another try may help, `calls` how many requests were spent on it.
    """

    def __init__(self, message: str, *, retryable: bool = False, kind: str = "error", calls: int = 0) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.kind = kind
        self.calls = calls
