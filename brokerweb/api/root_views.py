"""The root of the API: what there is."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.sections import ROOT, SECTIONS


class SectionSerializer(serializers.Serializer):
    name = serializers.CharField()
    url = serializers.URLField()
    sentence = serializers.CharField()


class RootSerializer(serializers.Serializer):
    version = serializers.CharField(help_text="Of this installation")
    schema = serializers.URLField(help_text="The OpenAPI document, public")
    documentation = serializers.URLField(help_text="The same to read and try out, public")
    resources = SectionSerializer(many=True)


class RootView(APIView):
    @extend_schema(operation_id="root_retrieve", responses=RootSerializer, tags=[ROOT])
    def get(self, request: Request) -> Response:
        """The resources of the API, with their addresses."""
        here = request.build_absolute_uri(request.path)
        found = {
            "version": settings.VERSION,
            "schema": request.build_absolute_uri(reverse("api:schema")),
            "documentation": request.build_absolute_uri(reverse("api:docs")),
            "resources": [
                {"name": name, "url": f"{here}{name}/", "sentence": sentence} for name, sentence in SECTIONS.items()
            ],
        }
        return Response(RootSerializer(found).data)
