"""Use cases of roles and of rights on single networks, called by REST, the admin and commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from brokerweb.accounts.asking import role_of
from brokerweb.accounts.models import Guest, NetworkRight, all_networks
from brokerweb.accounts.rights import Level, Role
from brokerweb.changelog.recording import logged, subject
from brokerweb.kit.errors import NotPossible
from overlay.core.errors import InvalidSetting, shown

ROLE_WORDS = [role.word for role in Role]
MOST_RIGHTS = 1_000
"""Networks that one account may be given rights on."""


def read_role(word: str) -> Role:
    """The role named ``word``. Raises ``InvalidSetting``."""
    if word not in ROLE_WORDS:
        raise InvalidSetting("role", f"must be one of {', '.join(ROLE_WORDS)}, not {shown(word, 40)}")
    return Role[word.upper()]


@logged("set role")  # IMMEDIATE: of two administrators who demote each other, the second is refused
def set_role(user: User, role: Role) -> User:
    """Give an account a role. Raises ``NotPossible`` if no active administrator would be left."""
    user = User.objects.select_for_update().get(pk=user.pk)
    check(user, role)
    user.is_staff, user.is_superuser = role >= Role.OPERATOR, role is Role.ADMINISTRATOR
    user.save(update_fields=["is_staff", "is_superuser"])
    if role is Role.GUEST:
        Guest.objects.get_or_create(user=user)
    else:
        Guest.objects.filter(user=user).delete()
    return user


def check(user: User, role: Role) -> None:
    """Raises ``NotPossible`` if no active administrator would be left."""
    if role is not Role.ADMINISTRATOR and role_of(user) is Role.ADMINISTRATOR and not _others(user):
        raise NotPossible("This is the only administrator. Make another account an administrator first.")


@logged("set active")
def set_active(user: User, is_active: bool) -> User:
    """Let an account log in and use its tokens, or not. Raises ``NotPossible`` if no active administrator would be
    left."""
    user = User.objects.select_for_update().get(pk=user.pk)
    if not is_active:
        check(user, Role.VIEWER)
    user.is_active = is_active
    user.save(update_fields=["is_active"])
    return user


def stored_role(user: User) -> Role:
    """The role of an account, also of a disabled one."""
    return role_by_flags(user, is_guest=not user.is_staff and Guest.objects.filter(pk=user.pk).exists())


def role_by_flags(user: User, *, is_guest: bool) -> Role:
    """The same without a query, for lists."""
    if user.is_staff:
        return Role.ADMINISTRATOR if user.is_superuser else Role.OPERATOR
    return Role.GUEST if is_guest else Role.VIEWER


def _others(user: User) -> bool:
    """Whether another active administrator exists."""
    active = User.objects.filter(is_active=True, is_staff=True, is_superuser=True)
    return active.exclude(pk=user.pk).exists()


@logged("set rights")
def set_rights(user: User, levels: Mapping[str, str]) -> None:
    """Replace an account's rights on single networks. Raises ``InvalidSetting``."""
    if len(levels) > MOST_RIGHTS:
        raise InvalidSetting("networks", f"at most {MOST_RIGHTS}, not {len(levels)}")
    found = set(all_networks().filter(pk__in=list(levels)).values_list("pk", flat=True))
    for network, level in levels.items():
        if network not in found:
            raise InvalidSetting("networks", f"unknown id {shown(network, 40)}")
        if level not in list(Level):
            raise InvalidSetting("networks", f"{network}: must be one of read, write, not {shown(level, 40)}")
    NetworkRight.objects.filter(user=user).exclude(network__in=found).delete()
    for network, level in levels.items():
        NetworkRight.objects.update_or_create(user=user, network_id=network, defaults={"level": level})


def _state(user: User) -> dict[str, Any]:
    fields = {name: getattr(user, name) for name in ("username", "email", "is_active")}
    return {**fields, "role": stored_role(user).word, "networks": rights_of(user)}


def _right(right: NetworkRight) -> dict[str, Any]:
    return {"account": right.user.get_username(), "network": right.network_id, "level": right.level}


subject(User, "account", state=_state)
subject(NetworkRight, "right", state=_right)


def rights_of(user: User) -> dict[str, str]:
    """Levels by id of network."""
    return dict(NetworkRight.objects.filter(user=user).order_by("network_id").values_list("network_id", "level"))
