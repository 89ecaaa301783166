from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.addresses import format_address, is_loopback, parse_address, parse_networks
from overlay.core.errors import InvalidSetting, WireError


@given(st.ip_addresses().filter(lambda host: not getattr(host, "scope_id", None)), st.integers(1, 65535))
def test_what_is_written_is_read(host, port):
    assert parse_address(format_address((str(host), port))) == (str(host), port)


@given(st.text())
def test_any_text_is_an_address_or_the_one_error(text):
    with suppress(WireError):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("localhost:80", "host 'localhost' is not a numeric address"),
        ("10.0.0.1", "address '10.0.0.1' is not host:port"),
        ("10.0.0.1:0", "port '0' is not a number from 1 to 65535"),
        ("10.0.0.1:080", "port '080' is not a number from 1 to 65535"),
        ("10.0.0.1:65536", "port '65536' is not a number from 1 to 65535"),
        ("::1:80", "address '::1:80' needs brackets around its IPv6 host"),
        ("[10.0.0.1]:80", "address '[10.0.0.1]:80' has brackets around a host that is not IPv6"),
        ("[fe80::1%eth0]:80", "host 'fe80::1%eth0' carries a zone"),
    ],
)
def test_what_is_wrong_is_said(text, sentence):
    with pytest.raises(WireError) as refused:
        parse_address(text)
    assert str(refused.value) == sentence


def test_networks_are_a_comma_separated_list():
    assert [str(network) for network in parse_networks("10.0.0.0/8, ::1/128", "trusted")] == ["10.0.0.0/8", "::1/128"]
    assert parse_networks("", "trusted") == ()
    with pytest.raises(InvalidSetting) as refused:
        parse_networks("10.0.0.1/8", "trusted")
    assert refused.value.field == "trusted"
    assert "has host bits set" in refused.value.sentence


def test_loopback_is_told_from_the_rest():
    assert [is_loopback(host) for host in ("127.3.2.1", "::1", "10.0.0.1")] == [True, True, False]
