"""The terms of a text: the same at index and query time, for both scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.tokenize import is_cjk, language, query_terms, stem, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CVE-2024-1234", ["cve-2024-1234", "cve", "2024", "1234"]),
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("HTTP/2", ["http/2", "http", "2"]),
        ("version 3.14.", ["version", "3.14", "3", "14"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("Ｈｅｌｌｏ　１２", ["hello", "12"]),
        ("Café ZÜRICH Straße", ["caf", "zurich", "strass"]),
        ("İstanbul", ["istanbul"]),
        ("年休假", ["年休", "休假"]),
        ("共 7 天", ["共", "7", "天"]),
        ("iPhone手机", ["iphon", "手机"]),
        ("人々 𠮷野", ["人々", "𠮷野"]),
        ("データ・ベース", ["デー", "ータ", "ベー", "ース"]),
        ("한국어", ["한국", "국어"]),
        ("", []),
        ("… — ！", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("days", "day"),
        ("policies", "policy"),
        ("boxes", "box"),
        ("running", "runs"),
        ("leave", "leaving"),
        ("meetings", "meeting"),
        ("agreed", "agree"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["status", "process", "string", "is", "bus", "red", "sing"])
def test_a_word_that_only_looks_inflected_stays(word: str) -> None:
    assert stem(word) == word


def test_either_apostrophe_and_either_form_of_an_accent_are_one_term() -> None:
    assert tokens("don’t") == tokens("don't")
    assert tokens("caf\u00e9") == tokens("cafe\u0301") == ["caf"]


def test_a_voiced_kana_is_not_an_accented_one() -> None:
    assert tokens("がか") != tokens("かか")
    assert tokens("\u304b\u3099") == ["が"]


def test_a_question_loses_its_stop_words_and_its_repeats() -> None:
    assert query_terms("How many days of leave are there, days?") == [stem("days"), stem("leave")]
    assert query_terms("什么是年假") == ["是年", "年假"]
    assert query_terms("leave " * 50) == [stem("leave")]


@pytest.mark.parametrize("text", ["the of", "什么", "怎么 的"])
def test_a_question_of_stop_words_alone_keeps_them(text: str) -> None:
    assert query_terms(text) == list(dict.fromkeys(tokens(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How long is the leave?", "en"),
        ("年休假有几天？", "zh"),
        ("年休假の日数は？", "ja"),
        ("연차는 며칠입니까?", "ko"),
        ("iPhone 手机的保修期是多久", "zh"),
        ("", "en"),
    ],
)
def test_language_is_told_by_script(text: str, expected: str) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("character", "expected"), [("年", True), ("カ", True), ("한", True), ("𠮷", True), ("a", False), ("。", False)]
)
def test_is_cjk(character: str, expected: bool) -> None:
    assert is_cjk(character) is expected


@given(st.text())
def test_any_text_has_terms_that_only_its_normal_form_decides(text: str) -> None:
    found = tokens(text)
    assert found == tokens(unicodedata.normalize("NFKC", text))
    assert all(term and not any(character.isspace() for character in term) for term in found)
    assert set(query_terms(text)) <= set(found)
    assert bool(query_terms(text)) == bool(found)


@pytest.mark.parametrize(
    "forms",
    [
        ("change", "changes", "changed", "changing"),
        ("base", "bases", "based"),
        ("plan", "plans", "planned", "planning"),
        ("policy", "policies"),
        ("speed", "speeds"),
        ("box", "boxes"),
    ],
)
def test_the_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len({tokens(form)[0] for form in forms}) == 1


def test_a_stem_keeps_what_is_no_ending() -> None:
    assert tokens("speed need status process") == ["speed", "need", "status", "process"]
