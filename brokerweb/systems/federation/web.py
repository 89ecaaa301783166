"""What seed 001 adds on the web. Counterpart: ``brokerweb.systems.contract.Web``."""

from __future__ import annotations

from brokerweb.systems.contract import Web


class FederationWeb(Web):
    pass
