"""Is a text a refusal, and how do we refuse? A fixed text in each language, and the ways models word it themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.core.sentences import sentences

REFUSALS = {
    "en": "The documents do not hold an answer to this question.",
    "zh": "现有文档中没有这个问题的答案。",
}

_GAPS = {"en": "The documents do not cover this part: ", "zh": "文档中没有找到这一部分的依据："}

_SUBJECT = (
    r"(?:the\s+|these\s+|any\s+)?(?:provided\s+|given\s+|available\s+|supplied\s+|retrieved\s+)?"
    r"(?:documents?|passages?|sources?|context|text|materials?|information|evidence|excerpts?|content|corpus)"
)
_NOT = r"(?:do(?:es)?\s+not|don['’]t|doesn['’]t|did\s+not|didn['’]t|cannot|can\s*not|can['’]t|could\s+not|couldn['’]t)"
_SAYS = (
    r"(?:hold|contain|mention|provide|say|state|specify|include|answer|cover|address|give|describe|discuss|indicate|"
    r"have|offer|support|list|allow)"
)
_NONE = r"(?:no|not\s+any|not\s+enough|insufficient)"
_DETAIL = r"(?:information|details?|answers?)"
_TO_SAY = r"(?:answer|determine|say|tell|establish|identify|find|locate|provide|confirm)"
_ENGLISH = (
    rf"{_SUBJECT}(?:\s+\w+){{0,3}}\s+{_NOT}\s+(?:\w+\s+){{0,2}}{_SAYS}\b",
    rf"\b(?:none\s+of|neither(?:\s+of)?|nothing\s+in|no)\s+{_SUBJECT}\s+(?:\w+\s+)?{_SAYS}(?:s|es)?\b",
    rf"{_SUBJECT}(?:\s+\w+){{0,2}}\s+(?:is|are)\s+(?:insufficient|inadequate|silent|not\s+(?:sufficient|enough))",
    rf"{_SUBJECT}(?:\s+\w+){{0,2}}\s+(?:makes?\s+no\s+(?:mention|reference)|fails?\s+to\s+{_SAYS}|"
    rf"lacks?\s+(?:\w+\s+){{0,3}}(?:{_DETAIL}|evidence|data))",
    rf"there(?:['’]s|\s+is|\s+was|\s+are)\s+{_NONE}\s+(?:\w+\s+){{0,3}}(?:{_DETAIL}|mention|documents?|passages?)",
    rf"there(?:['’]s|\s+is|\s+was|\s+are)\s+{_NONE}\s+(?:\w+\s+){{0,2}}(?:evidence|data)\s+"
    rf"(?:in\s+{_SUBJECT}|to\s+{_TO_SAY})",
    r"\bi(?:['’]m|\s+am)?\s+(?:sorry|afraid|unable|not\s+able)\b",
    rf"\bi\s+{_NOT}\s+(?:\w+\s+){{0,2}}(?:know|have|see|{_TO_SAY[3:]}",
    rf"\b(?:unable|(?:not\s+possible|impossible)\s+to\s+answer|(?:not\s+possible|impossible)(?=.*\b(?:from|based)\b))"
    rf"(?:\s+to\s+{_TO_SAY}|\s+(?:this|the)\s+question)",
    rf"\b{_NONE}\s+(?:relevant\s+|sufficient\s+|enough\s+|supporting\s+|such\s+|specific\s+)*(?:{_DETAIL}|evidence|data)"
    rf"(?:\s*\.?$|\s+(?:about|on|for|regarding|concerning)\b|\s+to\s+{_TO_SAY}\b|\s+in\s+{_SUBJECT}|"
    r"(?:\s+\w+){0,4}?\s+(?:found|available|given|provided|exists?)\b)",
    r"(?:is|are|was|were)\s*(?:not|n['’]t)\s+(?:\w+\s+)?(?:mentioned|specified|provided|stated|given|covered|addressed|"
    r"included|available|found|described|discussed|disclosed|answered)\s+(?:in|by|within|anywhere)\s+"
    r"(?:the\s+|any\s+|these\s+)?(?:\w+\s+)?(?:documents?|passages?|sources?|context|text|materials?|excerpts?|information)",
    r"(?:question|it|this)\s+(?:cannot|can\s*not|can['’]t|could\s+not)\s+be\s+(?:answered|determined)",
    r"\bcannot\s+be\s+(?:answered|determined)\s+(?:from|based|with|using)",
    r"^(?:(?:the\s+)?(?:answer|information)\s+(?:is\s+|was\s+)?)?(?:not[ _]found|no\s+answer)\s*\.?$",
)
_TEXTS = r"(?:文档|资料|资讯|材料|文件|文本|文章|段落|片段|上下文|原文|内容|信息|文中|来源|证据|语料)"
_TELLS = (
    r"(?:提及|提到|包含|说明|给出|涉及|提供|回答|答案|记载|记录|涵盖|列出|描述|显示|找到|相关|足够|支持|规定|明确|足以|"
    r"交代|交待|解释|检索到)"
)
_CLAUSE = r"(?:^|[，。；：,]|我们?|目前|暂时?|仍然?|还|也|尚|并)"
_CHINESE = (
    rf"{_TEXTS}[^。，；]{{0,12}}(?:没有|未|并未|不|无法|无)[^。；]{{0,6}}{_TELLS}",
    rf"{_TEXTS}[^。，；]{{0,4}}(?:找不到|查不到|看不出|没有[。]?$)",
    rf"没有(?:任何|一个|哪个)?(?:相关)?{_TEXTS}{_TELLS}",
    rf"{_CLAUSE}(?:没有|未|未能|没能|没)[^。，；]{{0,8}}(?:找到|查到|检索到|发现)"
    r"[^。；]{0,20}(?:信息|答案|内容|资料|证据|依据|问题|结果|说明|记录|。|$)",
    rf"{_CLAUSE}(?:未能|无法|找不到|不能|难以)[^。，；]{{0,12}}"
    r"(?:找到|查到|检索到|确定|回答|作答|得知|获取|提供|得出|判断|推断|给出)"
    r"[^。；]{0,20}(?:信息|答案|内容|资料|证据|依据|问题|结果|结论|说明|记录|。|$)",
    r"(?:没有|缺乏|缺少|无)(?:足够|相关|充分|任何|关于|必要|具体)[^。；]{0,14}(?:信息|证据|资料|依据|内容|答案|说明|记载)",
    r"(?:很抱歉|^抱歉|对不起|我不知道|我不清楚|^不清楚|不得而知)",
    r"(?:证据|信息|资料|依据)不足",
    r"与(?:该|此|本|这个|您的|你的)?问题(?:无关|不相关)",
    r"找不到(?:答案|相关|依据)",
    rf"根据[^。，；]{{0,8}}{_TEXTS}[^。，；]{{0,4}}(?:无法|不能|难以)",
)
_PATTERN = re.compile("|".join(_ENGLISH), re.IGNORECASE)
_PATTERN_ZH = re.compile("|".join(_CHINESE))
_SIMPLIFIED = str.maketrans(
    "資檔內來證據問題無沒說關記載給條與這個對確認為發檢夠訊尋並還從語結論現斷釋該",
    "资档内来证据问题无没说关记载给条与这个对确认为发检够讯寻并还从语结论现断释该",
)
"""The characters that the Chinese patterns need, from traditional to simplified."""
_BUT = re.compile(r"\b(?:but|however|although|though|while)\b|[，,]\s*(?:但|不过|然而|而)", re.IGNORECASE)
_CONDITION = re.compile(r"(?:if|when|unless|where)\b|如果|若|当|假如", re.IGNORECASE)
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
    for lead in _GAPS.values():
        # Whatever the part says, long or with a "but", as long as no other sentence follows.
        if plain.startswith(lead) and len(sentences(plain.removeprefix(lead))) <= 1:
            return True
    if len(plain) > LONG or _CONDITION.match(plain):
        return False
    plain = plain.translate(_SIMPLIFIED)
    match = _PATTERN.search(plain) or _PATTERN_ZH.search(plain)
    if match is None:
        return False
    rest = _BUT.search(plain, match.start())
    return rest is None or is_refusal(plain[rest.end() :])


def gap_sentence(part: str, language: str) -> str:
    """Return the sentence that names a part which the documents do not cover; it counts as a refusal of that part."""
    return _GAPS["zh" if language == "zh" else "en"] + part
