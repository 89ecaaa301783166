"""REST endpoints of the comparison of runs, for scripts and CI."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.pages import Pages
from brokerweb.api.shapes import compare as shapes
from brokerweb.comparison import distribution, exports, services
from brokerweb.comparison.query import MOST_BY, MOST_DISTRIBUTIONS, MOST_METRICS, MOST_RUN_IDS, read
from telemetry.reports.grouping import AGGREGATES
from telemetry.systems.registry import measures

CHOOSING = [
    OpenApiParameter("q", str, description="Filter expression that selects runs; default: all finished runs"),
    OpenApiParameter("runs", str, description=f"Comma-separated run ids, at most {MOST_RUN_IDS}; `q` narrows them"),
    OpenApiParameter("by", str, description=f"At most {MOST_BY} parameters to group by; default: by configuration"),
    OpenApiParameter("sort", str, description="Column to sort by; a leading - reverses the order"),
]
FIGURES = [
    OpenApiParameter(
        "metric",
        str,
        description=f"At most {MOST_METRICS} of {', '.join(measures())}, comma-separated; the first is compared with "
        "baseline",
    ),
    OpenApiParameter(
        "aggregate", str, enum=list(AGGREGATES), description="Aggregate over the replicates; default: mean"
    ),
    OpenApiParameter("baseline", str, description="Configuration hash, or filter expression of the baseline's runs"),
]
OF_THE_PAGE = [
    OpenApiParameter(name, str, description="Parameter of the page's chart; validated, no effect here")
    for name in ("x", "y", "chart", "log", "raw")
]
"""Accepted so that the page's query string is valid here."""
PAGED = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="Maximum 500")]


class CompareView(APIView):
    """`GET /api/compare/`."""

    @extend_schema(
        operation_id="compare_retrieve",
        parameters=[*CHOOSING, *FIGURES, *OF_THE_PAGE, *PAGED],
        responses=shapes.ComparisonSerializer,
    )
    def get(self, request: Request) -> Response:
        """Finished runs, grouped into replicates. Each figure has its 95 % interval and n; with a `baseline`, each
        group also has its difference to the baseline and a verdict.

        Replicates are paired by seed if both groups share seeds. Live and simulated runs are never in one group.
        """
        found = services.compare(read(request.query_params), timezone.now())
        pages = Pages()
        page = pages.paginate_queryset(services.ordered(found), request, view=self)
        answer = pages.get_paginated_response([exports.entry(found, group) for group in page or []])
        results = answer.data.pop("results")
        answer.data |= {**exports.summary(found), "results": results}
        return answer


class DistributionView(APIView):
    """`GET /api/compare/distribution/`."""

    @extend_schema(
        operation_id="compare_distribution_retrieve",
        parameters=[
            *CHOOSING,
            *FIGURES,
            *OF_THE_PAGE,
            OpenApiParameter(
                "configuration",
                str,
                description=f"Comma-separated configuration hashes, at most {MOST_DISTRIBUTIONS}; default: the first "
                "groups",
            ),
        ],
        responses=shapes.DistributionsSerializer,
    )
    def get(self, request: Request) -> Response:
        """Distribution of response times by group, computed from samples."""
        found = services.compare(read(request.query_params), timezone.now())
        some = distribution.distributions(distribution.chosen(found, services.ordered(found)))
        results = [
            {
                "configuration": one.group.id,
                "label": one.group.label,
                "answers": one.answers,
                "runs": one.read,
                "missing": one.missing,
                "skipped": one.skipped,
                "us": one.curve,
                "n": one.n,
                "low_us": one.low,
                "high_us": one.high,
            }
            for one in some
        ]
        return Response({"shares": distribution.SHARES, "results": results})
