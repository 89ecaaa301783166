"""REST endpoints of accounts: their roles and their rights on single networks."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.accounts import roles
from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import Resource
from brokerweb.api.shapes.accounts import AccountBody, AccountSerializer


class AccountViewSet(Resource):
    """Accounts, for administrators. Passwords, and new accounts, are made in the admin."""

    queryset = User.objects.order_by("username")
    serializer_class = AccountSerializer
    operations = {**dict.fromkeys(("get", "patch"), Operation.ADMINISTER), "me": Operation.OWN}
    lookup_value_regex = "[0-9]{1,12}"
    filterset_fields = {"username": ["exact", "icontains"], "is_active": ["exact"]}
    ordering_fields = ["username", "last_login"]

    @extend_schema(request=AccountBody, responses=AccountSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the role of an account, its rights on single networks, or both.

        409 if no administrator would be left.
        """
        body, user = self.parsed(AccountBody), self.get_object()
        with transaction.atomic():
            if "role" in body:
                user = roles.set_role(user, roles.read_role(body["role"]))
            if "networks" in body:
                roles.set_rights(user, body["networks"])
        return self.shown(user)

    @extend_schema(operation_id="accounts_me_retrieve", responses=AccountSerializer, filters=False)
    @action(detail=False, pagination_class=None)
    def me(self, request: Request) -> Response:
        """Your own account."""
        return self.shown(self.user)
