"""Which part of a web page is its content, and what stands around it?

Three things tell: the elements that say so themselves (nav, aside, hidden ones), the words in class and id that
sites of all kinds use for the same furniture, and where the prose is: text of some length outside links.
Why no extractor: those measured were better on news pages and lost every tenth section of a manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString, PageElement, PreformattedString

HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = re.compile(
    r"a|abbr|acronym|b|bdi|bdo|big|br|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|map|mark|nobr|"
    r"q|rp|rt|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_FURNITURE = ["script", "style", "nav", "aside", "template", "noscript", "svg", "iframe", "button", "select"]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NAMED = ["div", "section", "ul", "ol", "dl", "p", "footer", "form", "table"]
_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FURNITURE_WORD = re.compile(
    r"related|share|sharing|shares|sharebar|sharedaddy|social|socials|comment|comments|commentlist|disqus|newsletter|"
    r"newsletters|subscribe|subscription|advert|adverts|advertisement|advertising|ad|ads|adsense|promo|promos|"
    r"promotion|sponsor|sponsored|sponsors|breadcrumb|breadcrumbs|sidebar|sidebars|cookie|cookies|consent|gdpr|"
    r"pagination|pager|outbrain|taboola|recommended|recommendation|recommendations|recirc|recirculation|trending|"
    r"menu|submenu|navbar|navigation|nav|masthead|signup|login|popup|modal|toolbar|tags|taglist|paywall"
)
_OPEN = {
    "content",
    "body",
    "main",
    "wrapper",
    "container",
    "page",
    "layout",
    "has",
    "no",
    "with",
    "without",
    "non",
    "is",
}
_SHARING = re.compile(
    r"facebook\.com/(?:sharer?|dialog)|(?:twitter|x)\.com/(?:intent|share|home\?)|linkedin\.com/(?:share|cws)|"
    r"pinterest\.\w+/pin/create|reddit\.com/submit|(?:t|telegram)\.me/share|wa\.me/|whatsapp(?:\.com/send|:)|"
    r"vk\.com/share|ok\.ru/(?:dk|offer)|odnoklassniki\.ru|tumblr\.com/(?:share|widgets)|mailto:\?|getpocket\.com/"
)
_LETTER_BYTES = 500
_LINKED = 0.6
_CONTAINERS = {"article", "center", "div", "form", "main", "section", "table", "tbody", "td", "tr"}
_SECTION = re.compile(r"(?:ref)?sect(?:ion)?\d?|chapter|appendix|level\d|subsection")
_SHOWN_CLASS = re.compile(r".*(?:block|flex|grid|inline|table|visible)")
_ARTICLE_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*Article|BlogPosting)"')
_TITLES = {"title", *HEADINGS}
_PROSE_BYTES = 80
_MOST = 0.9
_MOST_OF_ARTICLE = 0.65


@dataclass(slots=True)
class _Weights:
    """How much text stands in each tag, itself and below, in UTF-8 bytes: one byte says about as much in any script."""

    text: dict[int, int] = field(default_factory=dict)
    linked: dict[int, int] = field(default_factory=dict)
    prose: dict[int, int] = field(default_factory=dict)
    order: list[Tag] = field(default_factory=list)
    prose_blocks: list[Tag] = field(default_factory=list)


def is_block(tag: Tag) -> bool:
    """Say whether a tag stands on lines of its own."""
    return _INLINE.fullmatch(tag.name) is None


def declares_article(soup: BeautifulSoup) -> bool:
    """Say whether a page calls itself one article, as news pages and blogs do; look before scripts are dropped."""
    if soup.find("meta", property="og:type", content=re.compile("^article$", re.IGNORECASE)) is not None:
        return True
    if soup.find(itemprop="articleBody") is not None:
        return True
    return any(_ARTICLE_TYPE.search(tag.get_text()) for tag in soup.find_all("script", type="application/ld+json"))


def drop_furniture(soup: BeautifulSoup) -> None:
    """Remove what is no content wherever it stands: scripts, menus, hidden parts, sharing bars, comments."""
    for line_break in soup.select("pre br"):
        line_break.replace_with("\n")
    _drop(soup.find_all(_FURNITURE))
    _drop(soup.find_all(_is_hidden))
    _drop(soup.find_all("a", href=_SHARING))
    outside = [tag for tag in soup.find_all(["header", "footer"]) if tag.find_parent(["article", "main"]) is None]
    _drop(outside)  # inside an article the header holds its title
    weights = _weigh(soup)
    whole = weights.text[id(soup)]
    named = [tag for tag in soup.find_all(_NAMED) if weights.text[id(tag)] * 3 < whole and _is_named_furniture(tag)]
    named.extend(_newsletters(soup, weights))
    named.extend(tag for tag in soup.find_all("footer") if weights.linked[id(tag)] * 2 > weights.text[id(tag)])
    outer = list(_outermost(named))
    if sum(weights.prose[id(tag)] for tag in outer) * 2 <= weights.prose[id(soup)]:  # else it is what the page is about
        _drop(outer)
    _drop([tag for tag in soup.find_all("form") if weights.text[id(tag)] * 2 < whole])  # some wrap the whole page


def content(soup: BeautifulSoup, *, article: bool) -> Tag:
    """Return the main part of a page without furniture; `article` if it is known to be one article."""
    body = soup.body or soup
    weights = _weigh(body)
    best = _marked(body, weights) or body
    while (inner := _inner(best, weights, article=article)) is not None:
        best = inner
    if article:
        _drop_link_lists(best)
    return best


def _drop(tags: list[Tag]) -> None:
    for tag in tags:
        tag.decompose()


def _is_hidden(tag: Tag) -> bool:
    if tag.name in ("html", "body"):
        return False
    style = tag.get("style")
    return (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or (isinstance(style, str) and _HIDDEN.search(style) is not None)
    )


def _is_named_furniture(tag: Tag) -> bool:
    """Say whether role, class or id call a tag furniture."""
    if tag.get("role") in _ROLES:
        return True
    names = list(tag.get("class") or ())
    if tag.name != "section" and not any(_SECTION.fullmatch(name) for name in names):
        names.append(str(tag.get("id") or ""))  # in a manual, the id of a section is made of its heading
    if "hidden" in names and not any(_SHOWN_CLASS.fullmatch(name) for name in names):
        return True
    if any(_is_furniture_name(name) for name in names):
        return True
    return "footer" in names and tag.find("a") is not None  # without links it may be a line of the document


def _newsletters(soup: BeautifulSoup, weights: _Weights) -> Iterator[Tag]:
    """Yield the boxes around fields for an e-mail address."""
    for field_ in soup.find_all("input", type="email"):
        box = None
        for parent in field_.parents:
            if weights.text[id(parent)] > min(_LETTER_BYTES, weights.text[id(soup)] // 3):
                break
            box = parent
        if box is not None:
            yield box


def _is_furniture_name(name: str) -> bool:
    """`comments__list` is; `has-sidebar`, `menu-page-content` and `non-ad-column` are not."""
    words = [word.lower() for word in _WORD.findall(name)]
    return not any(word in _OPEN for word in words) and any(_FURNITURE_WORD.fullmatch(word) for word in words)


def _outermost(tags: list[Tag]) -> Iterator[Tag]:
    """Yield those of `tags`, in document order, that stand inside no other."""
    known = {id(tag) for tag in tags}
    for tag in tags:
        if not any(id(parent) in known for parent in tag.parents):
            yield tag


def _weigh(root: Tag) -> _Weights:
    """Weigh all tags below `root` in one walk."""
    weights = _Weights()
    stack: list[tuple[PageElement, int, bool]] = [(root, id(root), False)]
    while stack:
        node, block, linked = stack.pop()
        if isinstance(node, Tag):
            weights.order.append(node)
            weights.text[id(node)] = weights.linked[id(node)] = weights.prose[id(node)] = 0
            block, linked = id(node) if is_block(node) else block, linked or _leads_away(node)
            stack.extend((child, block, linked) for child in reversed(node.contents))
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            size = len(" ".join(node.split()).encode("utf-8", "replace"))
            weights.text[block] += size
            weights.linked[block] += size if linked else 0
    _add_up(weights)
    return weights


def _leads_away(tag: Tag) -> bool:
    """Say whether a tag is a link to another page: no anchor, and no link within this page."""
    return tag.name == "a" and str(tag.get("href") or "#")[0] != "#"


def _add_up(weights: _Weights) -> None:
    """Find the prose, then add what each tag holds itself to all that it stands in."""
    text, linked, prose = weights.text, weights.linked, weights.prose
    for tag in weights.order:
        own = text[id(tag)]
        if own - linked[id(tag)] >= _PROSE_BYTES and linked[id(tag)] * 2 <= own and tag.name not in _TITLES:
            prose[id(tag)] = own
            weights.prose_blocks.append(tag)
    for tag in reversed(weights.order[1:]):  # a tag comes after all that it stands in
        parent = id(tag.parent)
        text[parent] += text[id(tag)]
        linked[parent] += linked[id(tag)]
        prose[parent] += prose[id(tag)]


def _marked(body: Tag, weights: _Weights) -> Tag | None:
    """Return what is marked as main part, or as the only article, unless most of the text stands elsewhere."""
    for marked in (body.find_all(_is_main), body.find_all("article")):
        outer = sorted(_outermost(marked), key=lambda tag: weights.text[id(tag)], reverse=True)
        others = sum(weights.prose[id(tag)] for tag in outer[1:])
        if not outer or weights.text[id(outer[0])] * 3 <= weights.text[id(body)]:
            continue
        if others * 3 <= weights.prose[id(outer[0])]:
            return outer[0]
    return None


def _is_main(tag: Tag) -> bool:
    return tag.name == "main" or tag.get("role") == "main"


def _inner(tag: Tag, weights: _Weights, *, article: bool) -> Tag | None:
    """Return the child that holds nearly all the prose, if what would be left out is no section of a document."""
    if tag.name == "article":
        return None
    children = [child for child in tag.contents if isinstance(child, Tag)]
    best = max(children, key=lambda child: weights.prose[id(child)], default=None)
    if best is None or best.name not in _CONTAINERS:
        return None
    least = (_MOST_OF_ARTICLE if article else _MOST) * weights.prose[id(tag)]
    if not least <= weights.prose[id(best)] > 0:
        return None
    before = children[: children.index(best)]
    if article:
        return None if any(weights.prose[id(child)] for child in before) else best  # that is its first paragraph
    return None if any(_may_matter(child, weights) for child in children if child is not best) else best


def _may_matter(tag: Tag, weights: _Weights) -> bool:
    """Say whether a tag is more than a list of links: one that has text outside them, or a heading that is none."""
    if weights.linked[id(tag)] * 2 < weights.text[id(tag)]:
        return True
    return any(weights.linked[id(heading)] == 0 for heading in tag.find_all(["h1", "h2"]))


def _drop_link_lists(root: Tag) -> None:
    """Remove blocks of links before the first and after the last prose: teasers, tags, the way to other articles."""
    weights = _weigh(root)
    if not weights.prose_blocks:
        return
    place = {id(tag): number for number, tag in enumerate(weights.order)}
    first, last = (place[id(weights.prose_blocks[end])] for end in (0, -1))
    outside = (tag for number, tag in enumerate(weights.order) if not first <= number <= last and is_block(tag))
    lists = [tag for tag in outside if weights.prose[id(tag)] == 0 and _is_linked(tag, weights)]
    _drop(list(_outermost(lists)))


def _is_linked(tag: Tag, weights: _Weights) -> bool:
    """Say whether a block is made of links: a paragraph wholly, others for the most part."""
    share = 1.0 if tag.name == "p" else _LINKED
    return weights.linked[id(tag)] >= share * weights.text[id(tag)] > 0
