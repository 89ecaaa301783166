"""REST endpoint of the search by name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.accounts.asking import access_of
from brokerweb.accounts.rights import Operation, refusal
from brokerweb.finder.services import KINDS, LONGEST, find


class FoundSerializer(serializers.Serializer):
    kind = serializers.CharField(help_text=f"One of page, {', '.join(kind.name for kind in KINDS)}")
    name = serializers.CharField()
    about = serializers.CharField(help_text="State, size or purpose")
    address = serializers.CharField(help_text="Path of the page")


class SearchSerializer(serializers.Serializer):
    query = serializers.CharField()
    results: Any = FoundSerializer(many=True)


class SearchView(APIView):
    @extend_schema(
        operation_id="search_retrieve",
        parameters=[
            OpenApiParameter(
                "q",
                str,
                description=f"Words that a name must contain; at most {LONGEST} characters. A kind narrows "
                "the search: `run 3 ring`. Empty: the first rows of each kind",
            )
        ],
        responses=SearchSerializer,
    )
    def get(self, request: Request) -> Response:
        """Search experiments, runs, topologies, networks, reports, schedules, hosts, tags, the caller's saved views,
        pages and actions by name. Best match first, a few of each kind. Pages that make changes are listed for
        operators only.
        """
        text = request.query_params.get("q", "")
        found = find(
            text,
            cast(User, request.user),
            may_change=not refusal(access_of(request.user, request.auth), Operation.CHANGE),
        )
        return Response(SearchSerializer({"query": text, "results": [asdict(one) for one in found]}).data)
