"""Log-in by an OpenID provider, if settings name one: authorization code with PKCE, state and nonce.

Authlib fetches the provider's metadata and keys, and checks signature, issuer, audience, expiry and nonce. This module
decides which account that is, and its role. Source: OpenID Connect Core 1.0, section 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from brokerweb.accounts import roles
from brokerweb.accounts.models import Identity
from brokerweb.accounts.rights import Role
from brokerweb.changelog.recording import recorded
from overlay.core.errors import InvalidSetting

ANYONE = "*"
TIMEOUT_S = 10


class Refused(Exception):
    """Not logged in; the sentence says why."""


@dataclass(frozen=True)
class Mapped:
    """Roles by the values of one claim: ``groups: lab-admins=administrator, lab=operator, *=viewer``."""

    claim: str
    roles: Mapping[str, Role]

    def role(self, claims: Mapping[str, Any]) -> Role | None:
        """The highest role that a claim's value, or one of its values, gives; ``None``: no access."""
        value = claims.get(self.claim)
        values = [str(one) for one in value] if isinstance(value, list) else [] if value is None else [str(value)]
        found = [self.roles[one] for one in (*values, ANYONE) if one in self.roles]
        return max(found, default=None)


def read_mapping(text: str) -> Mapped:
    """Raises ``InvalidSetting``."""
    claim, _, pairs = text.partition(":")
    found = {}
    for pair in filter(str.strip, pairs.split(",")):
        value, _, role = pair.strip().rpartition("=")
        if not value:
            raise InvalidSetting(
                "WAXWING_OIDC_ROLES", f"must have VALUE=ROLE after the claim, not {pair.strip()!r:.60}"
            )
        try:
            found[value.strip()] = roles.read_role(role.strip())
        except InvalidSetting as error:
            raise InvalidSetting("WAXWING_OIDC_ROLES", error.sentence) from None
    if not claim.strip() or not found:
        raise InvalidSetting("WAXWING_OIDC_ROLES", f"must be CLAIM: VALUE=ROLE, …, not {text!r:.60}")
    return Mapped(claim.strip(), found)


@cache
def client(issuer: str, client_id: str, secret: str) -> Any:
    """Authlib's client, which keeps the provider's metadata. Imported here: most installations have no provider."""
    from authlib.integrations.django_client import OAuth

    oauth = OAuth()
    oauth.register(
        "provider",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=f"{issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": settings.OIDC_SCOPE, "code_challenge_method": "S256", "timeout": TIMEOUT_S},
    )
    return oauth.provider


def errors() -> tuple[type[Exception], ...]:
    """What Authlib raises: a wrong state, code, signature or claim; a provider that is down or says nonsense."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    return AuthlibBaseError, JoseError, RequestException, KeyError, ValueError


def provider() -> Any:
    """The client of the provider in the settings."""
    return client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


@transaction.atomic
def account(claims: Mapping[str, Any]) -> User:
    """The account of someone whom the provider has authenticated, with the role of the claims. Raises ``Refused``.

    Accounts are found by issuer and subject only: a name or an address may be someone else's tomorrow, and a local
    account is never taken over.
    """
    role = read_mapping(settings.OIDC_ROLES).role(claims)
    if role is None:
        raise Refused("Your account at the provider has no role here. An administrator can give it one there.")
    key = {"issuer": str(claims["iss"]), "subject": str(claims["sub"])}
    known = Identity.objects.select_related("user").filter(**key).first()
    user = known.user if known else _made(claims, key)
    if not user.is_active:
        raise Refused("This account is disabled.")
    return roles.set_role(user, role) if roles.stored_role(user) is not role else user


def _made(claims: Mapping[str, Any], key: Mapping[str, str]) -> User:
    name = str(claims.get("preferred_username") or claims.get("email") or key["subject"]).strip()
    if not 1 <= len(name) <= 150 or not name.isprintable():
        raise Refused("The provider gives no user name of 1 to 150 printable characters.")
    if User.objects.filter(username=name).exists():
        raise Refused(f"The name {name:.60} is taken by another account here.")
    with recorded("create") as record:
        user = record.row = User.objects.create_user(name, email=str(claims.get("email", ""))[:254])
        Identity.objects.create(user=user, **key)
    return user
