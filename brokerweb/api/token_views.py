"""Tokens: created with user name and password, shown once, listed and revoked by their owner."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.accounts import services
from brokerweb.accounts.models import Token
from brokerweb.accounts.rights import Operation
from brokerweb.api.pages import Pages
from brokerweb.api.resources import created
from brokerweb.api.shapes import tokens as shapes
from brokerweb.api.sparse import SparseFields


@extend_schema_view(list=extend_schema(description="Your own tokens; their text is never shown again."))
class TokenViewSet(SparseFields, mixins.ListModelMixin, GenericViewSet):
    queryset = Token.objects.none()
    serializer_class = shapes.TokenSerializer
    pagination_class = Pages
    lookup_field = "id"

    operations = dict.fromkeys(("get", "delete"), Operation.OWN)

    def get_permissions(self) -> list[Any]:
        return [AllowAny()] if self.action == "create" else list(super().get_permissions())

    def get_authenticators(self) -> list[Any]:
        """Creating a token needs only the password in the body, so cookies and headers are ignored."""
        request = self.request
        return [] if request is not None and request.method == "POST" else super().get_authenticators()

    def get_authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def get_queryset(self) -> QuerySet:
        user = self.request.user
        return services.tokens_of(user) if user.is_authenticated else Token.objects.none()

    @extend_schema(request=shapes.TokenBody, responses={201: shapes.MadeTokenSerializer}, auth=[])
    def create(self, request: Request) -> Response:
        """A new token, with user name and password. Its text is in `token`, and never shown again."""
        body = shapes.TokenBody(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        # Pass Django's request: the lock-out counts failures by name and address.
        user = authenticate(request._request, username=given.pop("username"), password=given.pop("password"))
        if user is None:
            raise AuthenticationFailed("Wrong user name or password.")
        token, text = services.make_token(user, **given)
        token.token = text
        return created(shapes.MadeTokenSerializer(token).data, self.reverse_action("detail", args=[token.id]))

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, id: str) -> Response:
        """Revoke a token: requests with it are refused within a second."""
        services.revoke(self.get_object())
        return Response(status=204)
