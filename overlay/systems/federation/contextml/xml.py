"""XML within limits: no DTD, no entities, 64 KiB, eight levels, 2,000 elements.

defusedxml alone accepts 20,000 levels, so the elements are counted here. Its parser calls Python for each element. A
text without ``<!`` has no DTD, and so no entities (XML 1.0, section 2.8), and is parsed by the library's own, in C.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn
from xml.etree.ElementTree import Element, ParseError, XMLParser

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import XMLParser as DefusedXMLParser

from overlay.core.errors import WireError, shown

MAX_BYTES = 65_536
MAX_DEPTH = 8
MAX_ELEMENTS = 2_000
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN = re.compile("[A-Za-z0-9_.: -]*")
"""What is written as it is, and nearly all texts are."""
_TAG = re.compile("<[^>]*>")
"""In what is written, > is a reference everywhere else."""
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}
)
"""Without references, parsers would change line ends, and white space in attributes."""


class InvalidContextML(WireError):
    """A document that cannot be read, or a value that cannot be written as XML."""

    def __init__(self, sentence: str) -> None:
        super().__init__(f"Invalid ContextML: {sentence}.")
        self.sentence = sentence


def refuse(sentence: str) -> NoReturn:
    raise InvalidContextML(sentence)


def parse(data: bytes | str) -> Element:
    """The outermost element. Raises ``InvalidContextML``."""
    if len(data) > MAX_BYTES:
        refuse(f"{len(data):,} bytes are more than {MAX_BYTES:,}")
    is_plain = isinstance(data, str) and "<!" not in data  # bytes may be in an encoding that writes it otherwise
    parser = XMLParser() if is_plain else DefusedXMLParser(forbid_dtd=True)  # noqa: S314 - nothing to expand
    try:
        parser.feed(data)
        root: Element = parser.close()
    except DefusedXmlException:
        refuse("a DTD, entities and external references are not accepted")
    except ParseError as error:
        refuse(f"it is not XML: {error}")
    except (ValueError, LookupError) as error:  # an encoding that is unknown, or half a surrogate pair
        refuse(f"it cannot be decoded: {str(error)[:100]}")
    _check(root)
    return root


def _check(root: Element) -> None:
    level, depth, count = [root], 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        _refuse_beyond(depth, count)
        level = [child for element in level for child in element]


def attributes(element: Element, required: Sequence[str] = (), optional: Sequence[str] = ()) -> Mapping[str, str]:
    """All of ``required`` and any of ``optional``, and no other. Raises ``InvalidContextML``."""
    found = element.attrib
    for name in required:
        if name not in found:
            refuse(f"{element.tag} has no attribute {name}")
    for name in found:
        if name not in required and name not in optional:
            refuse(f"{element.tag} has an unknown attribute, {shown(name)}")
    return found


def children(element: Element, *tags: str) -> list[Element]:
    """All of them, which have these tags. There is no text between them."""
    texts = [element.text, *(child.tail for child in element)]
    for text in texts:
        if text and not text.isspace():
            refuse(f"{element.tag} has the text {shown(text.strip())} between its elements")
    for child in element:
        if child.tag not in tags:
            refuse(f"{element.tag} has an unknown element, {shown(child.tag)}; known are {', '.join(tags)}")
    return list(element)


def by_tag(element: Element, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Element]:
    """Its elements, each at most once."""
    found: dict[str, Element] = {}
    for child in children(element, *required, *optional):
        if child.tag in found:
            refuse(f"{element.tag} has {child.tag} twice")
        found[child.tag] = child
    for tag in required:
        if tag not in found:
            refuse(f"{element.tag} has no {tag}")
    return found


def text_of(element: Element) -> str:
    """Of an element without others."""
    if len(element):
        refuse(f"{element.tag} must have a text, and no elements")
    return element.text or ""


def plain_text(element: Element) -> str:
    """Of an element without others and without attributes."""
    attributes(element)
    return text_of(element)


def written(tag: str, content: str = "", **attributes: str) -> str:
    """An element. ``content`` is XML; the attributes are text. Raises ``InvalidContextML``."""
    head = "".join(f' {name}="{_escaped(value, _IN_ATTRIBUTES)}"' for name, value in attributes.items())
    return f"<{tag}{head}>{content}</{tag}>" if content else f"<{tag}{head}/>"


def within_limits(text: str) -> str:
    """``text``, which consists of what ``written`` gave, if ``parse`` would accept it. Raises ``InvalidContextML``."""
    if (size := len(text.encode())) > MAX_BYTES:
        refuse(f"{size:,} bytes are more than {MAX_BYTES:,}")
    depth = count = 0
    for tag in _TAG.findall(text):
        if tag.startswith("</"):
            depth -= 1
            continue
        count += 1
        depth += 1
        _refuse_beyond(depth, count)
        depth -= tag.endswith("/>")
    return text


def _refuse_beyond(depth: int, count: int) -> None:
    if depth > MAX_DEPTH:
        refuse(f"elements are nested more than {MAX_DEPTH} deep")
    if count > MAX_ELEMENTS:
        refuse(f"it has more than {MAX_ELEMENTS:,} elements")


def escaped(text: str) -> str:
    """A text as content of an element. Raises ``InvalidContextML`` for characters that XML does not have."""
    return _escaped(text, _IN_TEXT)


def _escaped(text: str, table: Mapping[int, str]) -> str:
    if _PLAIN.fullmatch(text):
        return text
    if found := _NOT_XML.search(text):
        refuse(f"{shown(found[0])} is no character of XML")
    return text.translate(table)
