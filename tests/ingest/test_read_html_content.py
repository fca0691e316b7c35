from __future__ import annotations

import pytest

from ingest.read import read

PROSE = "The committee met in the spring of that year and decided to build a hall for all of its members, {}."


def text_of(body: str, head: str = "") -> str:
    return read(f"<html><head>{head}</head><body>{body}</body></html>".encode(), "a.html").text


def paragraphs(*words: str) -> str:
    return "".join(f"<p>{PROSE.format(word)}</p>" for word in words)


@pytest.mark.parametrize(
    "furniture",
    [
        pytest.param('<div class="social-share-box"><a href="x">Send it</a></div>', id="sharing by class"),
        pytest.param(
            '<ul><li><a href="https://www.facebook.com/sharer.php?u=x">Send</a></li></ul>', id="sharing by link"
        ),
        pytest.param('<section class="comments__list"><p>Me too!</p></section>', id="comments"),
        pytest.param('<div id="relatedPosts"><a href="y">Another</a></div>', id="related, in an id of joined words"),
        pytest.param('<div role="navigation"><a href="y">Up</a></div>', id="a role"),
        pytest.param('<div><h3>Letter</h3><form><input type="email"></form>Every day</div>', id="a newsletter"),
        pytest.param('<div class="footer">2024 <a href="y">Imprint</a></div>', id="a footer with links"),
    ],
)
def test_furniture_goes_where_class_role_or_links_say_so(furniture: str) -> None:
    assert text_of(paragraphs("one", "two") + furniture) == "\n\n".join(map(PROSE.format, ("one", "two")))


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(
            '<div class="has-sidebar content"><p>Kept.</p></div>', id="a layout named after what stands beside"
        ),
        pytest.param('<section id="comments"><h2>Comments</h2><p>Kept.</p></section>', id="a section about comments"),
        pytest.param('<div class="section" id="menu"><h2>The menu</h2><p>Kept.</p></div>', id="an older section"),
        pytest.param('<p>Choose <span class="menu">Kept.</span></p>', id="inline"),
        pytest.param('<p class="footer">Kept.</p>', id="a footer without links"),
    ],
)
def test_names_alone_remove_no_content(part: str) -> None:
    assert "Kept." in text_of(paragraphs("one", "two") + part)


def test_what_most_of_the_page_is_stays_whatever_it_is_called() -> None:
    posts = "".join(f'<div class="comment">{paragraphs(word)}</div>' for word in ("one", "two", "three", "four"))
    assert text_of(f"<h1>A thread</h1>{posts}").count("committee") == 4


def test_a_page_keeps_sections_beside_its_longest_part() -> None:
    body = f"<div>{paragraphs(*map(str, range(30)))}</div><div><h2>Limits</h2><p>At most ten.</p></div>"
    assert text_of(body).endswith("Limits\n\nAt most ten.")


def test_lists_of_links_around_the_content_go() -> None:
    links = "".join(f'<a href="/{number}">Page {number}</a> ' for number in range(9))
    assert text_of(f"<div>{links}</div><div>{paragraphs('one')}</div>") == PROSE.format("one")


def test_links_within_the_page_are_content() -> None:
    assert "Part one" in text_of(f'<ul><li><a href="#one">Part one</a></li></ul><div>{paragraphs("one")}</div>')


NEWS = '<meta property="og:type" content="article">'


def test_an_article_loses_the_teasers_of_others_and_keeps_its_first_paragraph() -> None:
    teasers = f"<div><h3>More news</h3>{paragraphs('elsewhere')}</div>"
    body = f"<div><div><p>{PROSE.format('first')}</p><div>{paragraphs('a', 'b', 'c')}</div></div>{teasers}</div>"
    text = text_of(body, NEWS)
    assert text.startswith(PROSE.format("first"))
    assert "More news" not in text


def test_a_short_last_line_of_an_article_stays_and_a_list_of_links_below_it_goes() -> None:
    links = '<div><h3><a href="/x">Another article</a></h3></div>'
    text = text_of(f"{paragraphs('a', 'b')}<p>Main street 1</p>{links}", NEWS)
    assert text.endswith("Main street 1")


def test_several_articles_on_one_page_are_all_kept() -> None:
    body = "".join(f"<article><h2>Day {word}</h2>{paragraphs(word)}</article>" for word in ("one", "two", "three"))
    assert text_of(body).count("committee") == 3


@pytest.mark.parametrize(
    ("title", "heading", "first"),
    [
        pytest.param("How to find ideas", "", "How to find ideas", id="a title that is nowhere comes first"),
        pytest.param("Ideas - A site", "<h2>Ideas</h2>", "Ideas", id="a part of it as heading is enough"),
        pytest.param(
            "How to find ideas | Site", "<h1>How to find good ideas</h1>", "How to find good ideas", id="similar"
        ),
        pytest.param("Steel SNB22", "<h1>Our site</h1>", "Steel SNB22", id="the site's name is no title"),
    ],
)
def test_the_title_stands_in_the_text(title: str, heading: str, first: str) -> None:
    result = read(
        f"<html><head><title>{title}</title></head><body>{heading}<p>Body.</p></body></html>".encode(), "a.html"
    )
    assert result.text.split("\n")[0] == first
    assert result.headings[0].title == first
    assert result.headings[0].start == 0
    assert result.blocks[0].of(result.text) == first
