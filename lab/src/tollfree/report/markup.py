"""Elements of HTML and SVG, escaped by construction: text is escaped unless it is `Markup`."""

import html
import re
from collections.abc import Iterable

VOID_ELEMENTS = frozenset({"input", "meta"})

Attribute = str | int | bool | None


class Markup(str):
    """Text that is markup already; only this module and the assets make it."""

    __slots__ = ()


Child = str | None | Iterable["Child"]


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return an element; `class_` gives class, `aria_sort` aria-sort; None and False are left out.

    Children are text, markup, None, or iterables of these.
    """
    opening = "".join([name, *map(_attribute, attributes, attributes.values())])
    if name in VOID_ELEMENTS:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{fragment(*children)}</{name}>")


def fragment(*children: Child) -> Markup:
    """Return the children one after the other, escaped where they are text."""
    parts = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(html.escape(child))
        elif child is not None:
            parts.append(str(fragment(*child)))
    return Markup("".join(parts))


def prose(text: str) -> Markup:
    """Return plain text with the words between backquotes set as code."""
    parts = re.split(r"`([^`]+)`", text)
    return fragment(
        element("code", part) if position % 2 else part for position, part in enumerate(parts)
    )


def plain(text: str) -> str:
    """Return the text without its backquotes, for where only text can stand."""
    return text.replace("`", "")


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    key = name.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'
