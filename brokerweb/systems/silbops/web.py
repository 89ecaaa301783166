"""What seed 002 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Entry, Web


class SilbopsWeb(Web):
    urls = "brokerweb.systems.silbops.urls"
    rest_urls = "brokerweb.systems.silbops.rest_urls"
    lab = "brokerweb.systems.silbops.wirelab.lab.LAB"
    entries = (
        Entry("SilboPS: wire lab", "Decode a datagram", "silbops-wire", "protocol decode bytes hexadecimal channel"),
        Entry("SilboPS: compose", "Compose and send a message", "silbops-wire-compose", "protocol send"),
        Entry("SilboPS: conversations", "Example messages", "silbops-wire-conversations", "protocol wire siena"),
        Entry("SilboPS: recorded messages", "Datagrams of recorded runs", "silbops-wire-messages", "capture wire"),
        Entry("SilboPS: Wireshark", "Dissector and installation", "silbops-wire-wireshark", "lua capture"),
    )
