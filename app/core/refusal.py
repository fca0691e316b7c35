"""Is a text a refusal, and how do we refuse? A fixed text in each language, and the ways models word it themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

REFUSALS = {
    "en": "The documents do not hold an answer to this question.",
    "zh": "现有文档中没有这个问题的答案。",
}

_SUBJECT = (
    r"(?:the\s+)?(?:provided\s+|given\s+|available\s+|supplied\s+|retrieved\s+)?"
    r"(?:documents?|passages?|sources?|context|text|materials?|information|evidence|excerpts?|content|corpus)"
)
_NOT = r"(?:do(?:es)?\s+not|don['’]t|doesn['’]t|did\s+not|didn['’]t|cannot|can\s*not|can['’]t|could\s+not|couldn['’]t)"
_ENGLISH = (
    rf"{_SUBJECT}(?:\s+\w+){{0,3}}\s+{_NOT}\s+(?:\w+\s+){{0,2}}(?:hold|contain|mention|provide|say|state|specify|include|answer|cover|address|give|describe|discuss|indicate|have|offer|support|list)",
    r"(?:there\s+is|there['’]s|there\s+was|there\s+are)\s+(?:no|not\s+enough|insufficient|not\s+any)\s+(?:\w+\s+){0,3}(?:information|evidence|mention|details?|answers?|data|documents?|passages?)",
    r"\bi(?:['’]m|\s+am)?\s+(?:sorry|afraid|unable|not\s+able)\b",
    rf"\bi\s+{_NOT}\s+(?:\w+\s+){{0,2}}(?:find|answer|determine|locate|know|have|see|provide|tell|say|confirm|identify)",
    r"\bunable\s+to\s+(?:find|answer|determine|locate|provide)",
    r"\b(?:no|insufficient|not\s+enough)\s+(?:relevant\s+|sufficient\s+|enough\s+|supporting\s+|such\s+|specific\s+)*(?:information|evidence|details?|data|answer)\b(?:\s+\w+){0,4}\s*(?:was\s+|is\s+|are\s+|were\s+)?(?:found|available|provided|given|exists?|to\s+answer|in\s+the|about|on|for|\.)",
    r"(?:is|are|was|were)\s+(?:not|n['’]t)\s+(?:\w+\s+)?(?:mentioned|specified|provided|stated|given|covered|addressed|included|available|found|described|discussed|disclosed|answered)\s+(?:in|by|within|anywhere)\s+(?:the\s+|any\s+|these\s+)?(?:\w+\s+)?(?:documents?|passages?|sources?|context|text|materials?|excerpts?|information)",
    r"(?:question|it|this)\s+(?:cannot|can\s*not|can['’]t|could\s+not)\s+be\s+(?:answered|determined)",
    r"\bcannot\s+be\s+(?:answered|determined)\s+(?:from|based|with|using)",
    r"\b(?:not\s+found|no\s+answer)\s*\.?$",
)
_CHINESE = (
    r"(?:文档|资料|材料|文件|段落|上下文|原文|内容|信息|文中|来源|证据)[^。，；]{0,12}(?:没有|未|并未|不|无法|无)[^。；]{0,6}(?:提及|提到|包含|说明|给出|涉及|提供|回答|答案|记载|记录|涵盖|列出|描述|显示|找到|相关|足够|支持|规定|明确|足以)",
    r"(?:没有|未|未能|无法|找不到|不能)[^。，；]{0,8}(?:找到|查到|检索到|发现|确定|回答|得知|获取|提供)[^。；]{0,20}(?:信息|答案|内容|资料|证据|依据|问题|结果|说明|记录|。|$)",
    r"(?:没有|缺乏|缺少|无)(?:足够|相关|充分|任何|关于)[^。；]{0,14}(?:信息|证据|资料|依据|内容|答案|说明|记载)",
    r"(?:很抱歉|抱歉|对不起|我不知道|不清楚|不得而知)",
    r"(?:证据|信息|资料|依据)不足",
    r"找不到(?:答案|相关|依据)",
)
_PATTERN = re.compile("|".join(_ENGLISH), re.IGNORECASE)
_PATTERN_ZH = re.compile("|".join(_CHINESE))
_BUT = re.compile(r"\b(?:but|however|although|though|while)\b|[，,]\s*(?:但|不过|然而|而)", re.IGNORECASE)
LONG = 240
"""A longer text says more than no; its sentences are looked at one by one."""


def refusal_text(language: str, custom: Mapping[str, str] | None = None) -> str:
    """Return the fixed refusal; `custom` texts by language go first, and English serves every other language."""
    given = custom or {}
    return given.get(language) or REFUSALS.get(language) or given.get("en") or REFUSALS["en"]


def is_refusal(text: str) -> bool:
    """Say whether a text only says that there is no answer. One that goes on with a "but" and a fact does not."""
    plain = " ".join(text.split())
    if not plain or plain in REFUSALS.values():
        return True
    if len(plain) > LONG:
        return False
    match = _PATTERN.search(plain) or _PATTERN_ZH.search(plain)
    if match is None:
        return False
    rest = _BUT.search(plain, match.end())
    return rest is None or is_refusal(plain[rest.end() :])


def gap_sentence(part: str, language: str) -> str:
    """Return the sentence that names a part which the documents do not cover."""
    if language == "zh":
        return f"文档中没有找到这一部分的依据：{part}"
    return f"The documents do not cover this part: {part}"
