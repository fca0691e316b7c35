"""Which warnings can a run carry, and what do they say?"""

from __future__ import annotations

WARNINGS: dict[str, tuple[str, str]] = {
    "plan_rejected": ("The plan was rejected.", "计划已被拒绝。"),
    "cancelled": ("The run was cancelled.", "运行已取消。"),
    "answer_incomplete": ("The first answer did not answer the question.", "第一次回答未能回答问题。"),
    "claims_removed": (
        "Sentences without support in the documents were removed.",
        "没有文档依据的句子已被移除。",
    ),
    "planner_parse_failed": (
        "The plan could not be read; the question is the only task.",
        "无法解析计划，按单个任务处理。",
    ),
    "route_parse_failed": (
        "The routing reply could not be read; a safe route was taken.",
        "无法解析路由回复，已采用安全路线。",
    ),
    "llm_budget_exceeded": ("The run made more model calls than planned.", "模型调用次数超过预算。"),
    "tool_budget_exhausted": ("The search budget ran out.", "检索预算已用完。"),
    "iteration_cap": ("The run reached its limit of steps.", "运行已达步数上限。"),
    "worker_degraded": ("A part of the run failed.", "运行的一部分失败。"),
    "fallback_to_direct": (
        "Research found no more; this is the first answer.",
        "深入检索没有更多结果，返回第一次的回答。",
    ),
    "plan_truncated": (
        "The plan had too many tasks; the first ones were kept.",
        "任务过多，只保留前面的任务。",
    ),
    "insufficient_evidence": (
        "A part of the question is not covered by the documents.",
        "问题的一部分在文档中没有依据。",
    ),
    "conflicting_evidence": ("The documents disagree.", "文档之间存在矛盾。"),
    "injection_suspected": (
        "A document contains text that looks like instructions.",
        "文档中含有疑似指令的文字。",
    ),
    "answer_truncated": ("The answer was cut short.", "回答被截断。"),
}


def warned(code: str, language: str, detail: str | None = None) -> dict[str, str]:
    """Return a warning in the language of the question. Raises KeyError for an unknown code."""
    message = WARNINGS[code][1 if language == "zh" else 0]
    return {"code": code, "message": message if detail is None else f"{message} ({detail})"}
