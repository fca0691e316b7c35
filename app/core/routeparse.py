"""Which role does a routing reply name? Only a reply that is nothing but `ROLE: <role>` names one."""

from __future__ import annotations

import re

ROLE = re.compile(r"ROLE: (direct|planner|researcher|writer|finish)")
THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


def without_thought(reply: str) -> str:
    """Return a reply without think text, closed or not.

    A chat template may write the opening tag itself: then all before the closing one is thought.
    """
    return _THINK_END.sub("", THINK.sub("", reply))


def parse_route(reply: str) -> str | None:
    """Return the role, or None. Think text is taken out first; blanks at the ends do not count."""
    match = ROLE.fullmatch(without_thought(reply).strip())
    return None if match is None else match.group(1)
