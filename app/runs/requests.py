"""What may be asked of a run?"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Filters(BaseModel):
    """Which documents may be used."""

    model_config = ConfigDict(extra="forbid")

    document_ids: list[str] | None = Field(None, max_length=1000)


class Budgets(BaseModel):
    """Limits that a request may lower or raise within bounds."""

    model_config = ConfigDict(extra="forbid")

    searches: int | None = Field(None, ge=1, le=100)
    pages: int | None = Field(None, ge=1, le=500)
    evidence: int | None = Field(None, ge=1, le=100)
    llm_calls: int | None = Field(None, ge=1, le=200)


class RunRequest(BaseModel):
    """A question with the way it shall be answered."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=4000)
    mode: Literal["auto", "direct", "research"] = "auto"
    researcher: Literal["parallel"] = "parallel"
    approval: Literal["auto", "always", "never"] = "auto"
    conversation_id: str | None = Field(None, max_length=100)
    filters: Filters | None = None
    budgets: Budgets | None = None

    @field_validator("question")
    @classmethod
    def _says_something(cls, question: str) -> str:
        """Refuse a question of white space, and text that is no Unicode."""
        if not question.strip():
            raise ValueError("The question is empty.")
        return question.encode("utf-8", "replace").decode("utf-8")


class ApprovalRequest(BaseModel):
    """A person's decision on a plan. `tasks` go with `edit`; each is checked by `app.core.planedit`."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "edit", "cancel"]
    tasks: list[Any] | None = None
    plan_version: int | None = None
