"""Tags about the servers of a network that answer."""

from __future__ import annotations

import time

from django import template

from brokerweb.networks.answering import trouble
from brokerweb.networks.models import Host, Network

register = template.Library()


@register.simple_tag
def not_answering(network: Network) -> str:
    """``answering.trouble`` now."""
    return trouble(network, Host.objects.filter(pk=network.host).first(), time.time())
