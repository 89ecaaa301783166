"""Environment variables that cannot be meant are refused at the start, by name."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured

from brokerweb.variables import networks, number


def test_numbers_and_networks_are_read():
    assert [number({"R": text}, "R", 100) for text in ("", "0", "2.5", "1e3")] == [100, 0, 2.5, 1000]
    assert networks({"W": "10.1.2.3/16, ::1/128,"}, "W") == [ip_network("10.1.0.0/16"), ip_network("::1/128")]
    assert networks({}, "W") == []


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(ImproperlyConfigured, match="R must be a number of at least 0"):
        number({"R": text}, "R", 100)


@pytest.mark.parametrize("text", ["localhost", "10.0.0.0/33", "10.0.0.0/8;127.0.0.0/8"])
def test_what_is_no_network_is_refused(text):
    with pytest.raises(ImproperlyConfigured, match="W must list networks"):
        networks({"W": text}, "W")
