"""Which part of a suite is run?"""

from __future__ import annotations

from collections.abc import Sequence

from eval.errors import EvalError
from eval.suite import Suite


def chosen(suite: Suite, sets: Sequence[str], variants: Sequence[str], questions: int | None) -> Suite:
    """Return the suite with only these sets and variants (all, if none is named), and fewer questions.

    Raises EvalError for a name that the suite does not have.
    """
    kept_sets = tuple(one for one in suite.sets if not sets or one.name in sets)
    kept = tuple(one for one in suite.variants if not variants or one.name in variants)
    for kind, wanted, known in (("set", sets, suite.sets), ("variant", variants, suite.variants)):
        names = [one.name for one in known]
        for name in wanted:
            if name not in names:
                raise EvalError(f"The suite {suite.name} has no {kind} {name!r}: it has {', '.join(names)}.")
    if questions is not None:
        kept_sets = tuple(one.model_copy(update={"questions": questions}) for one in kept_sets)
    return suite.model_copy(update={"sets": kept_sets, "variants": kept})
