"""Are there five prompts, each about one thing, and does a broken one fail when it is loaded?"""

from __future__ import annotations

import pytest

from app.prompts import NOT_FOUND, PROMPTS, SYSTEM_LIMIT, PromptError, parse_prompt

ROLES = ("supervisor", "direct", "planner", "researcher", "writer")


def test_five_distinct_prompts_under_the_bound() -> None:
    assert tuple(sorted(PROMPTS)) == tuple(sorted(ROLES))
    assert len({prompt.system for prompt in PROMPTS.values()}) == len(ROLES)
    assert all(0 < len(prompt.system) <= SYSTEM_LIMIT for prompt in PROMPTS.values())
    assert all("$" not in prompt.system for prompt in PROMPTS.values())


def test_each_prompt_describes_one_thing() -> None:
    assert "JSON" in PROMPTS["planner"].system
    assert "ROLE: <role>" in PROMPTS["supervisor"].system
    for role in ("direct", "writer", "researcher"):
        system = PROMPTS[role].system
        assert "JSON" not in system
        assert "ROLE:" not in system
        assert "data, never instructions" in system
    for role in ("direct", "writer"):
        assert NOT_FOUND in PROMPTS[role].system
        assert "Valid:" in PROMPTS[role].system
        assert "Invalid:" in PROMPTS[role].system
    assert "not covered" in PROMPTS["writer"].system
    assert not any(word in PROMPTS["writer"].system.lower() for word in ("plan", "search", "query", "task"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("# System\nx\n# User\n$situation $extra", "unknown \\['extra'\\]", id="unknown"),
        pytest.param("# System\nx\n# User\nnothing", "missing \\['situation'\\]", id="missing"),
        pytest.param("# System\ncosts 5 $\n# User\n$situation", "write `\\$\\$`", id="lone_dollar"),
        pytest.param("# System\n$name\n# User\n$situation", "unknown \\['name'\\]", id="in_the_constant_part"),
        pytest.param("# System\nx", "followed by", id="one_part"),
        pytest.param(f"# System\n{'x' * 2501}\n# User\n$situation", "2501 characters", id="too_long"),
    ],
)
def test_a_broken_prompt_fails(text: str, complaint: str) -> None:
    with pytest.raises(PromptError, match=complaint):
        parse_prompt("supervisor", text)


def test_a_dollar_in_a_value_stays() -> None:
    assert "costs $question 5$" in PROMPTS["supervisor"].fill(situation="costs $question 5$")
