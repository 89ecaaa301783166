"""Whether the servers of a running network answer, for its page and the list.

A supervisor sees processes and asks them over the loopback interface, so a network may be ``running`` although no
server answers from outside. That state is a contract and remains; pages show what the newest probes found. A network
whose host has disappeared is ``degraded`` within seconds (``brokerweb.control.reaping``). Counterparts: ``probing``
asks each server once a second; ``probes`` keeps the answers.
"""

from __future__ import annotations

from brokerweb.networks.broker_index import servers_of
from brokerweb.networks.models import DOWN, Host, Network, NetworkState
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from brokerweb.networks.services import worker_missing
from overlay.systems.registry import SYSTEMS


def trouble(network: Network, host: Host | None, now_s: float) -> str:
    """A sentence if servers on ``host`` that should answer do not at ``now_s``, Unix time; otherwise empty.

    Empty also where it is unknown: without probes, which exist only on the host of the network.
    """
    if network.state in DOWN or network.system not in SYSTEMS:
        return ""
    title = servers_of(network).title.in_text
    if host is not None and not host.alive:
        missing = worker_missing(host.name)
        return f"{missing} It is unknown which {title.many} answer; the states shown are the last ones observed."
    if network.state != NetworkState.RUNNING:  # the reason of another state is shown
        return ""
    up = [row["index"] for row in network.brokers if row.get("state") == "up"]
    asked = probe_file(network).newest(FEW_SECONDS, up, now_s)
    answering = sum(answered > 0 for _, answered in asked.values())
    if answering == len(asked):
        return ""
    probed = title.one if len(asked) == 1 else title.many
    return f"{answering or 'None'} of {len(asked)} {probed} answered the latest probes. Their processes run."
