"""REST endpoints of tags and saved views."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from brokerweb.accounts.rights import Operation
from brokerweb.api.resources import Resource, created
from brokerweb.api.shapes import labels as shapes
from brokerweb.api.sparse import SparseFields
from brokerweb.experiments import labels
from brokerweb.experiments.models import SavedView, Tag
from brokerweb.runlist import saved_views


@extend_schema_view(list=extend_schema(description="All tags in use, sorted by name."))
class TagViewSet(Resource):
    queryset = Tag.objects.annotate(runs_count=Count("runs")).order_by("name")
    serializer_class = shapes.TagSerializer
    lookup_field = "name"
    lookup_value_regex = "[a-z0-9_-]{1,40}"
    filter_backends: Any = []

    @extend_schema(request=shapes.TagBody, responses=shapes.TagSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        """Rename the tag on all its runs."""
        renamed = labels.rename(self.get_object(), self.parsed(shapes.TagBody)["name"])
        return self.shown(self.get_queryset().get(pk=renamed.pk))

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, name: str) -> Response:
        """Remove the tag from all runs."""
        self.get_object().delete()
        return Response(status=204)


@extend_schema_view(list=extend_schema(description="Your own views."))
class SavedViewViewSet(SparseFields, mixins.RetrieveModelMixin, mixins.ListModelMixin, GenericViewSet):
    """A saved view of a list, of your own."""

    queryset = SavedView.objects.none()
    serializer_class = shapes.SavedViewSerializer
    operations = dict.fromkeys(("get", "post", "patch", "delete"), Operation.OWN)
    lookup_value_regex = "[0-9]{1,12}"
    filterset_fields = ["page"]

    def get_queryset(self) -> QuerySet[SavedView]:
        if getattr(self, "swagger_fake_view", False):
            return SavedView.objects.none()
        return SavedView.objects.filter(owner=cast(User, self.request.user)).order_by("page", "name")

    @extend_schema(request=shapes.SavedViewBody, responses={201: shapes.SavedViewSerializer})
    def create(self, request: Request) -> Response:
        body = shapes.SavedViewBody(data=request.data)
        body.is_valid(raise_exception=True)
        view = saved_views.save(cast(User, request.user), **body.validated_data)
        return created(shapes.SavedViewSerializer(view).data, self.reverse_action("detail", args=[view.pk]))

    @extend_schema(request=shapes.RenameBody, responses=shapes.SavedViewSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        body = shapes.RenameBody(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(
            shapes.SavedViewSerializer(saved_views.rename(self.get_object(), body.validated_data["name"])).data
        )

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        self.get_object().delete()
        return Response(status=204)
