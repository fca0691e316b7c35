"""What is each role told?

One Markdown file per role: under `# System` the text that never varies (evidence boundary, format,
prohibitions), under `# User` the template of the one message that does (question, constraints, passages). A
template with a wrong or a missing placeholder, or a system text that has grown too long, fails when this
package is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from string import Template

__all__ = ["NOT_FOUND", "PROMPTS", "SYSTEM_LIMIT", "Prompt", "PromptError", "parse_prompt"]

NOT_FOUND = "NOT_FOUND"
"""What direct and writer reply when the passages hold no answer: a word that is no sentence of a document."""

SYSTEM_LIMIT = 2500
"""Characters of a system text: one role, one thing, and small models lose rules that stand further away."""

PLACEHOLDERS: dict[str, frozenset[str]] = {
    "supervisor": frozenset({"situation"}),
    "direct": frozenset({"passages", "keys", "language", "question", "sentinel"}),
    "planner": frozenset({"max_tasks", "avoid", "question"}),
    "researcher": frozenset({"passages", "tried", "left", "question"}),
    "writer": frozenset({"passages", "keys", "language", "tasks", "gaps", "question"}),
}
"""The placeholders of each role's user template, every one of them required."""

ANSWERING = frozenset({"direct", "writer"})
"""Roles whose system text must name the sentinel."""


class PromptError(ValueError):
    """A prompt file does not fit what the code fills in."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A role's constant system text and the template of its user message."""

    system: str
    user: Template

    def fill(self, **values: object) -> str:
        """Return the user message; a value is put in as it is, so a `$` in a document stays a `$`."""
        return self.user.substitute(values, sentinel=NOT_FOUND)


def parse_prompt(role: str, text: str) -> Prompt:
    """Return the prompt in the text of a role's file, or raise `PromptError` with what is wrong with it."""
    head, separator, user = text.partition("\n# User\n")
    if not separator or not head.startswith("# System\n"):
        raise PromptError(f"prompt {role!r} needs a `# System` part followed by a `# User` part")
    system, template = Template(head.removeprefix("# System\n").strip()), Template(user.strip())
    _check(role, "system", system, frozenset({"sentinel"}) if role in ANSWERING else frozenset())
    _check(role, "user", template, PLACEHOLDERS[role])
    filled = system.substitute(sentinel=NOT_FOUND)
    if len(filled) > SYSTEM_LIMIT:
        raise PromptError(f"system prompt {role!r} has {len(filled)} characters, more than {SYSTEM_LIMIT}")
    return Prompt(filled, template)


def _check(role: str, part: str, template: Template, wanted: frozenset[str]) -> None:
    if not template.is_valid():
        raise PromptError(f"prompt {role!r}, {part}: a `$` that starts no placeholder; write `$$`")
    found = frozenset(template.get_identifiers())
    if found != wanted:
        raise PromptError(
            f"prompt {role!r}, {part}: missing {sorted(wanted - found)}, unknown {sorted(found - wanted)}"
        )


def _load() -> dict[str, Prompt]:
    folder = files(__package__ or __name__)
    return {role: parse_prompt(role, (folder / f"{role}.md").read_text("utf-8")) for role in PLACEHOLDERS}


PROMPTS: dict[str, Prompt] = _load()
"""The prompt of each role."""
