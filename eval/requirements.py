"""Does a run reach what its suite requires?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eval.errors import EvalError
from eval.measures import MEASURES
from eval.measures.cost import COSTS as COST_MEASURES
from eval.runs import Run
from eval.suite import Suite

COSTS = {one.name for one in COST_MEASURES}


def check(suite: Suite) -> None:
    """Raise EvalError for a requirement that could never be met or missed: a wrong name, direction or limit."""
    for limits, better, other in ((suite.require, "high", "most"), (suite.most, "low", "require")):
        for where, limit in limits.items():
            set_name, variant, name = _parts(where)
            for kind, wanted, known in (("set", set_name, suite.sets), ("variant", variant, suite.variants)):
                names = [one.name for one in known]
                if wanted not in names:
                    raise EvalError(f"{where!r}: the suite has no {kind} {wanted!r}: it has {', '.join(names)}.")
            if MEASURES[name].better != better:
                raise EvalError(f"{where!r} belongs into [{other}]: of {name}, {MEASURES[name].better} is better.")
            if name not in COSTS and not 0 <= limit <= 1:
                raise EvalError(f"{where!r} = {limit} cannot be: {name} lies between 0 and 1.")


def unmet(suite: Suite, run: Run) -> list[str]:
    """Return in words each requirement that the run misses; those of sets and variants not run are passed over.

    Raises EvalError for a requirement that names no measure.
    """
    low = _missed(suite.require, run, lambda mean, limit: mean < limit, "below")
    high = _missed(suite.most, run, lambda mean, limit: mean > limit, "above")
    return low + high


def _missed(limits: Mapping[str, float], run: Run, misses: Callable[[float, float], bool], word: str) -> list[str]:
    found = []
    for where, limit in limits.items():
        set_name, variant, name = _parts(where)
        cell = run.cell(set_name, variant)
        if cell is None:
            continue
        values = list(cell.values.get(name, {}).values())
        if not values:
            found.append(f"{where} was required and not measured: no question of the set has what it needs.")
        elif misses(sum(values) / len(values), limit):
            found.append(f"{where} is {sum(values) / len(values):.3f}, {word} {limit}.")
    return found


def _parts(where: str) -> tuple[str, str, str]:
    parts = where.split("/")
    if len(parts) != 3 or parts[2] not in MEASURES:
        raise EvalError(f"A requirement is SET/VARIANT/MEASURE, not {where!r}; measures: {', '.join(MEASURES)}.")
    return parts[0], parts[1], parts[2]
