"""Which role does a routing reply name? Only a reply that is nothing but `ROLE: <role>` names one."""

from __future__ import annotations

import re

ROLE = re.compile(r"ROLE: (direct|planner|researcher|writer|finish)")
THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)


def parse_route(reply: str) -> str | None:
    """Return the role, or None. Think text is taken out first; blanks at the ends do not count."""
    match = ROLE.fullmatch(THINK.sub("", reply).strip())
    return None if match is None else match.group(1)
