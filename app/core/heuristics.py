"""Which route does a question take before any model is asked? Rules on its words; None where they are silent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LONG_WORDS = 40
LONG_CJK = 60
_COMPARISON = re.compile(
    r"\b(compare|compared|comparison|contrast|differ|difference|differences|versus|vs)\b|\bwhich\b[^?]*,[^?,]*\bor\b|比较|对比|区别|差异|不同之处|分别|相比|哪[个种家款]更",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[?？].*[?？]", re.DOTALL)
_CONJUNCTION = re.compile(
    r"\band\s+(what|who|when|where|which|why|how)\b|;|；|以及.*(多少|什么|哪|几|谁|怎么|如何|何时)|，.*(多少|什么|哪|几天|谁).*，",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class OpeningRoute:
    """A role and the rule that chose it."""

    role: Literal["direct", "planner"]
    reason: str


def opening_route(question: str) -> OpeningRoute | None:
    """Return the opening route: `planner` for several parts, `direct` for a short single question, None if unclear."""
    if _COMPARISON.search(question):
        return OpeningRoute("planner", "comparison")
    if _SEVERAL.search(question):
        return OpeningRoute("planner", "several_questions")
    if _CONJUNCTION.search(question):
        return OpeningRoute("planner", "conjunction")
    if len(question.split()) > LONG_WORDS or len(_WIDE.findall(question)) > LONG_CJK:
        return None
    return OpeningRoute("direct", "single_question")
