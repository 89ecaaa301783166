"""REST endpoints of accounts: their roles and their rights on single networks."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from brokerweb.accounts import roles, services
from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import Resource
from brokerweb.api.shapes.accounts import AccountBody, AccountSerializer
from brokerweb.api.shapes.tokens import TokenSerializer


class AccountViewSet(Resource):
    """Accounts, for administrators. Passwords, and new accounts, are made in the admin."""

    queryset = User.objects.order_by("username")
    serializer_class = AccountSerializer
    operations = {**dict.fromkeys(("get", "patch", "delete"), Operation.ADMINISTER), "me": Operation.OWN}
    lookup_value_regex = "[0-9]{1,12}"
    filterset_fields = {"username": ["exact", "icontains"], "is_active": ["exact"]}
    ordering_fields = ["username", "last_login"]

    @extend_schema(request=AccountBody, responses=AccountSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the role of an account, whether it may log in, or its rights on single networks.

        409 if no administrator would be left.
        """
        body, user = self.parsed(AccountBody), self.get_object()
        with transaction.atomic():
            if "role" in body:
                user = roles.set_role(user, roles.read_role(body["role"]))
            if "is_active" in body:
                user = roles.set_active(user, body["is_active"])
            if "networks" in body:
                roles.set_rights(user, body["networks"])
        return self.shown(user)

    @extend_schema(operation_id="accounts_tokens_list", responses=TokenSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def tokens(self, request: Request, pk: str) -> Response:
        """The tokens of an account, newest first, with their last use."""
        return Response(TokenSerializer(services.tokens_of(self.get_object()), many=True).data)

    @extend_schema(
        operation_id="accounts_token_destroy",
        parameters=[OpenApiParameter("token", str, OpenApiParameter.PATH)],
        request=None,
        responses={204: None},
        filters=False,
    )
    @action(detail=True, methods=["delete"], url_path="tokens/(?P<token>[a-z0-9]{1,20})", pagination_class=None)
    def revoke_token(self, request: Request, pk: str, token: str) -> Response:
        """Revoke a token of an account."""
        services.revoke(get_object_or_404(services.tokens_of(self.get_object()), id=token))
        return Response(status=204)

    @extend_schema(operation_id="accounts_me_retrieve", responses=AccountSerializer, filters=False)
    @action(detail=False, pagination_class=None)
    def me(self, request: Request) -> Response:
        """Your own account."""
        return self.shown(self.user)
