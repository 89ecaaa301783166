"""Use cases of notification targets, called by pages, REST, the admin and tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone

from brokerweb.changelog.recording import CHANGE, CREATE, DELETE, logged, recorded, subject
from brokerweb.kit import etags
from brokerweb.kit.ids import new_id
from brokerweb.notices.models import Channel, Delivery, Notice, NoticeKind, Target
from brokerweb.notices.transport import NotDelivered, check_host
from overlay.core.errors import InvalidSetting, shown

MOST_TARGETS = 50
KINDS = tuple(kind for kind in NoticeKind.values if kind != NoticeKind.TEST)
"""Event kinds available to targets."""


@logged(CREATE, by="owner")  # IMMEDIATE: of two concurrent requests, the second finds the name taken
def create(
    *, name: str, channel: str, address: str, kinds: Sequence[str], secret: str = "", owner: User | None = None
) -> Target:
    """Create a target. Raises ``InvalidSetting``."""
    if Target.objects.count() >= MOST_TARGETS:
        raise InvalidSetting("name", f"the limit of {MOST_TARGETS} targets is reached; delete one first")
    target = Target(owner=owner)
    _set(target, {"name": name, "channel": channel, "address": address, "kinds": list(kinds), "secret": secret})
    target.save()
    return target


@logged(CHANGE)
def change(target: Target, changes: Mapping[str, Any], seen: str = "") -> Target:
    """Change fields: name, address, kinds, enabled, and the secret if given.

    Raises ``InvalidSetting``, and ``Outdated`` if the target differs from ``seen``.
    """
    target.refresh_from_db()  # deliveries since it was read may have counted failures and disabled it
    etags.check(seen, stored(target))
    fields = {"name": target.name, "channel": target.channel, "address": target.address, "kinds": target.kinds}
    _set(target, {**fields, "secret": target.secret, **{k: v for k, v in changes.items() if k != "enabled"}})
    if (enabled := changes.get("enabled")) is not None:
        if enabled and not target.enabled:
            target.failures, target.note, target.since = 0, "", timezone.now()
        target.enabled = bool(enabled)
    target.save()
    return target


def stored(target: Target) -> dict[str, Any]:
    """The values shown in its form; only whether it has a secret."""
    fields = {"name": target.name, "channel": target.channel, "address": target.address, "kinds": target.kinds}
    return {**fields, "signed": bool(target.secret)}


def _state(target: Target) -> dict[str, Any]:
    return {**stored(target), "enabled": target.enabled}


subject(Target, "notification", state=_state)


def _set(target: Target, fields: Mapping[str, Any]) -> None:
    name, channel, secret = str(fields["name"]).strip(), fields["channel"], str(fields["secret"])
    address = str(fields["address"]).strip()
    if not name or len(name) > 100 or not name.isprintable():
        raise InvalidSetting("name", "must be 1 to 100 printable characters")
    if Target.objects.filter(name=name).exclude(pk=target.pk).exists():
        raise InvalidSetting("name", f"{name!r} is taken by another target")
    if channel not in Channel.values:
        raise InvalidSetting("channel", f"must be one of {', '.join(Channel.values)}, not {shown(channel, 40)}")
    (check_email if channel == Channel.EMAIL else check_url)(address)
    if len(secret) > 200 or not secret.isprintable():
        raise InvalidSetting("secret", "must be at most 200 printable characters")
    kinds = fields["kinds"]
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        raise InvalidSetting("kinds", f"must be among {', '.join(KINDS)}, not {shown(wrong[0], 40)}")
    if not kinds:
        raise InvalidSetting("kinds", "select at least one")
    target.name, target.channel, target.address, target.secret = name, channel, address, secret
    target.kinds = [kind for kind in KINDS if kind in kinds]


def check_email(address: str) -> None:
    """Raises ``InvalidSetting``."""
    try:
        validate_email(address)
    except ValidationError:
        raise InvalidSetting("address", f"must be an e-mail address, not {shown(address)}") from None
    if len(address) > 254:
        raise InvalidSetting("address", "is longer than 254 characters")


def check_url(address: str) -> None:
    """Raises ``InvalidSetting``. Host names are resolved and checked at each delivery."""
    if len(address) > 500:
        raise InvalidSetting("address", "is longer than 500 characters")
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not address.isascii() or not address.isprintable() or " " in address:
        raise InvalidSetting("address", f"must begin with http:// or https:// and have a host, not {shown(address)}")
    if parts.username or parts.password:
        raise InvalidSetting("address", "must not contain a user name or password; use the secret")
    try:
        check_host(parts.hostname or "")
    except NotDelivered as refused:
        raise InvalidSetting("address", str(refused)) from None


def delete(target: Target) -> None:
    """Delete the target and its deliveries."""
    with recorded(DELETE, target):
        target.delete()


def test(target: Target) -> Delivery:
    """Send a test notice to this target, even if it is disabled."""
    notice = Notice.objects.create(
        key=f"test:{new_id()}",
        kind=NoticeKind.TEST,
        title="Test of Waxwing notifications",
        text=f"This is a test of the target {target.name}.",
        path="/notifications/",
    )
    return Delivery.objects.create(target=target, notice=notice)


def masked(target: Target) -> str:
    """Its address for read-only accounts: the path of a webhook often contains a secret."""
    if target.channel == Channel.EMAIL:
        return target.address
    parts = urlsplit(target.address)
    return f"{parts.scheme}://{parts.netloc}/…"
