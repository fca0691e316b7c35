"""What can go wrong in measuring?

CitedragError
└── EvalError       a suite, a data set or a run that cannot be used as it is; the message says what to do
"""

from __future__ import annotations

from app.errors import CitedragError


class EvalError(CitedragError):
    """A suite, a data set or a run cannot be used as it is."""
