"""What views of networks have in common whose clients are hosted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from django.contrib.auth.models import User
from django.db import close_old_connections, connection
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.serializers import BaseSerializer

from brokerweb.api.paging import part_of
from brokerweb.front import event_loop
from brokerweb.front.principals import who_is
from brokerweb.front.refusals import RecordsRefusals
from brokerweb.networks.snapshot import NetworkSnapshot, snapshot_or_404
from brokerweb.notices.services import check_url as check_address
from overlay.core.errors import InvalidSetting

PAGED = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="Maximum 1,000")]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and of which network."""

    snapshot: NetworkSnapshot
    user: User
    who: str
    """``token:ID`` or ``user:ID``."""

    @property
    def network(self) -> str:
        return self.snapshot.network


class OfNetwork(RecordsRefusals):
    """A view of a network of one system."""

    system: ClassVar[str]
    network_in = "pk"
    commits_itself = True  # a transaction would last as long as brokers take, and hide rows from the host

    def caller(self, request: Request, pk: str) -> Caller:
        """Raises ``NotFound`` for networks of other systems."""
        snapshot = snapshot_or_404(pk)
        if snapshot.system != self.system:
            raise NotFound(f"This network is of the system {snapshot.system}, not of {self.system}.")
        return Caller(snapshot, cast(User, request.user), who_is(request.user, request.auth))

    def parsed(self, shape: type[BaseSerializer]) -> dict[str, Any]:
        body = shape(data=self.request.data)
        body.is_valid(raise_exception=True)
        return body.validated_data


def page(request: Request, found: Any, shape: type[BaseSerializer]) -> dict[str, Any]:
    """One page of a list."""
    listed = part_of(request, list(found))
    return {**listed, "results": shape(listed["results"], many=True).data}


def in_loop(
    what: Coroutine[Any, Any, T], errors: tuple[type[Exception], ...], as_rest: Callable[[Exception], Exception]
) -> T:
    """Its result, in a thread. ``errors`` are raised as ``as_rest`` has them."""
    if not connection.in_atomic_block:
        close_old_connections()  # of this thread, which waits for brokers now
    try:
        return event_loop.run(what)
    except errors as error:
        raise as_rest(error) from None


def check_url(url: str) -> None:
    """Raises ``InvalidSetting`` for ``url``, if there is one."""
    if url:
        try:
            check_address(url)
        except InvalidSetting as refused:
            raise InvalidSetting("url", refused.sentence) from None
