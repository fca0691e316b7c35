"""Which role does a routing reply name? Only a reply that is nothing but `ROLE: <role>` names one."""

from __future__ import annotations

import re

ROLE = re.compile(r"ROLE: (direct|planner|researcher|writer|finish)")
THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)

_THINK_END = "</think>"


def parse_route(reply: str) -> str | None:
    """Return the role, or None. Think text is taken out first; blanks at the ends do not count."""
    said = THINK.sub("", reply)
    # A chat template may write the opening tag itself: then all before the closing one is thought.
    said = said[said.lower().rfind(_THINK_END) + len(_THINK_END) :] if _THINK_END in said.lower() else said
    match = ROLE.fullmatch(said.strip())
    return None if match is None else match.group(1)
