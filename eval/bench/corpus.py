"""Of what is a synthetic corpus made? Of words as frequent as those of a language, from a seed.

Words follow the law of Zipf and Mandelbrot (Mandelbrot 1953): the word of rank r has a weight of 1 / (r + 2.7). The
first ranks are real words, so that a tokenizer meets what it knows; the rest is made of syllables, or of pairs of
Chinese characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

Language = Literal["en", "zh"]

VOCABULARY = 20_000
SHIFT = 2.7
BLOCK = 20_000
"""Words drawn at once."""
NUMBER_EVERY = 40
"""One in so many words of the vocabulary is a number."""
SENTENCE_WORDS = {"en": (7, 24), "zh": (5, 16)}

ENGLISH = """the of and to in a is that for it as was with be by on not he his but at are this have from which or had an
they you were her all she there would their we him been has when who will more no if out so said what up its about into
than them can only other new some could time these two may then do first any my now such like our over man me even most
made after also did many before must through years where much your way well down should because each just those people
how too little state good very make world still own see men work long get here between both life being under never day
same another know while last might us great old year off come since against go came right used take three ship port
crew safety report service system water number office company order change control engine order oil test plan"""
CHINESE = """的 一 是 在 了 有 和 人 这 中 大 为 上 个 国 我 以 要 他 时 来 用 们 生 到 作 地 于 出 就
分 对 成 会 可 主 发 年 同 工 也 能 下 过 子 说 产 种 面 而 方 后 多 定 行 学 法 所 民 经 我们 公司 员工
船舶 港口 安全 管理 规定 工作 时间 检查 报告 部门 人员 使用 进行 要求 设备 记录 系统 服务 信息 负责 批准 申请 培训
期间 维护 采购 合同 费用 旅客 货物"""
SYLLABLES = """ba be bi bo ca ce co cu da de di do fa fe fi fo ga ge go ha he hi ho ja jo ka ke ki la le li lo lu ma me
mi mo mu na ne ni no pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we wi tion ment ter ing ver
con per tra sta ple ent ist ous"""
CHARACTERS = (
    "天地人水火木金土山川日月星风云雨雪春夏秋冬东西南北前后左右上下高低长短大小多少新旧轻重快慢开关进出来去"
    "学习工作生活研究发展建设管理教育文化经济政治社会历史科技信息网络电话机器飞船港海洋河流城市乡村道路交通运输"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the paragraphs under it."""

    heading: str
    paragraphs: tuple[str, ...]


class ZipfText:
    """Writes text of one language; the same seed writes the same text."""

    def __init__(self, language: Language, seed: int) -> None:
        self.language = language
        self._random = np.random.default_rng([seed, 0 if language == "en" else 1])
        self._words = _vocabulary(language, self._random)
        weights = 1.0 / (np.arange(len(self._words)) + 1 + SHIFT)
        self._steps = np.cumsum(weights / weights.sum())
        self._drawn = self._draw()

    def words(self, count: int) -> list[str]:
        """Return the next words."""
        return [next(self._drawn) for _ in range(count)]

    def sentence(self) -> str:
        """Return a sentence, with its full stop."""
        shortest, longest = SENTENCE_WORDS[self.language]
        return self._sentence(int(self._random.integers(shortest, longest)))

    def paragraph(self, words: int) -> str:
        """Return sentences of about `words` words in all."""
        sentences, left = [], words
        while left > 0:
            made = self.sentence()
            sentences.append(made)
            left -= made.count(" ") + 1 if self.language == "en" else len(made) // 2
        return (" " if self.language == "en" else "").join(sentences)

    def title(self) -> str:
        """Return a heading: a few words without a full stop."""
        return self._sentence(int(self._random.integers(2, 6)))[:-1]

    def sections(self, count: int, words: int) -> tuple[Section, ...]:
        """Return `count` sections of about `words` words, in paragraphs of very different lengths."""
        made = []
        for _ in range(count):
            shares = self._random.dirichlet([1.0, 1.0, 1.0]) * words
            made.append(Section(self.title(), tuple(self.paragraph(max(4, int(share))) for share in shares)))
        return tuple(made)

    def _sentence(self, words: int) -> str:
        if self.language == "zh":
            return "".join(self.words(words)) + "。"
        text = " ".join(self.words(words))
        return f"{text[0].upper()}{text[1:]}."

    def _draw(self) -> Iterator[str]:
        while True:
            for place in np.searchsorted(self._steps, self._random.random(BLOCK)):
                yield self._words[min(int(place), len(self._words) - 1)]


def _vocabulary(language: Language, random: np.random.Generator) -> list[str]:
    """Return distinct words: real ones first, then made ones, with numbers among them."""
    words = dict.fromkeys((ENGLISH if language == "en" else CHINESE).split())
    parts = SYLLABLES.split() if language == "en" else list(CHARACTERS)
    lengths = (2, 5) if language == "en" else (2, 4)
    while len(words) < VOCABULARY:
        if len(words) % NUMBER_EVERY == 0:
            words[str(random.integers(1, 1_000_000))] = None
        else:
            places = random.integers(0, len(parts), int(random.integers(*lengths)))
            words["".join(parts[place] for place in places)] = None
    return list(words)
