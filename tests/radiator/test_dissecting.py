"""Datagrams field by field: all bytes are accounted for, and bodies are shown inflated, on a page too."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from hypothesis import given

from overlay.core.errors import WireError
from overlay.systems.radiator.wire.compression import CODECS, deflate
from overlay.systems.radiator.wire.dissecting import dissect, examples
from overlay.systems.radiator.wire.messages import Context, Push
from overlay.systems.radiator.wire.table import LAYOUTS, encode
from tests.radiator.strategies import messages

BODY = b'{"a":{},"n":1,"p":["Alice"],"t":[0,0]}'
URL = "/radiator/wire/"


@given(messages)
def test_the_parts_are_all_bytes_in_order(message):
    data = encode(message)
    at = 0
    for part in dissect(data).parts:
        assert part.offset == at
        at += part.length
    assert at == len(data)


def test_there_is_an_example_of_each_kind():
    assert list(examples()) == [layout.short for layout in LAYOUTS]
    assert [dissect(data).layout.short for data in examples().values()] == list(examples())


@pytest.mark.parametrize("codec", range(len(CODECS)))
def test_bodies_are_inflated(codec):
    context = Context(1, 7, 0, codec, deflate(BODY, codec))
    push = Push(1, 2, 65_535, 0, 0, 0, codec, 0, 1, bytes(8), deflate(BODY, codec))
    assert [dissect(encode(one)).inflated for one in (context, push)] == [BODY.decode()] * 2
    assert dissect(encode(push._replace(segments=2))).inflated == "", "a part of a blob"
    assert dissect(encode(context._replace(codec=1, body=b"x"))).inflated == "", "damaged"


@pytest.mark.parametrize("data", [b"", b"RD", b"RD\x01\x63", b"RD\x01\x05"])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(WireError):
        dissect(data)


@pytest.fixture
def looking(db, django_user_model):
    browser = Client()
    browser.force_login(django_user_model.objects.create_user("olga"))
    return browser


@pytest.mark.parametrize("name", [layout.short for layout in LAYOUTS])
def test_the_page_shows_an_example_of_each(looking, name):
    page = looking.get(f"{URL}?kind={name}").content.decode()
    assert f"<h2>{name}</h2>" in page
    names = re.findall(r'data-label="Field">(.*?)</td>', page)
    assert names[:2] == ["magic", "kind"]


def test_the_page_decodes_digits_and_says_what_is_wrong(looking):
    digits = examples()["alive"].hex()
    page = looking.post(URL, {"hex": f"{digits[:6]} {digits[6:10]}\n{digits[10:]}"}).content.decode()
    assert "<h2>alive</h2>" in page
    for wrong, sentence in (("xyz", "ot hexadecimal digits"), ("5244", "is not the beginning of a known message")):
        answer = looking.post(URL, {"hex": wrong})
        assert answer.status_code == 400
        assert sentence in answer.content.decode()
    assert looking.post(URL, {"hex": "00" * 80_000}).status_code == 400
