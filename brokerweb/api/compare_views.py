"""REST's doors to the comparison of runs: the numbers of the page, for scripts and CI."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.api.pages import Pages
from brokerweb.api.shapes import compare as shapes
from brokerweb.comparison import distribution, exports, services
from brokerweb.comparison.asked import MOST_BY, MOST_DISTRIBUTIONS, MOST_METRICS, MOST_RUN_IDS, read
from telemetry.reports.grouping import AGGREGATES
from telemetry.systems.registry import measures

CHOOSING = [
    OpenApiParameter("q", str, description="Which runs, in the filter language; all where left out"),
    OpenApiParameter("runs", str, description=f"Ids of runs, with commas, at most {MOST_RUN_IDS}; `q` narrows them"),
    OpenApiParameter("by", str, description=f"At most {MOST_BY} parameters to group by; none: all but the seed"),
    OpenApiParameter("sort", str, description="A column; with - before it from the other end"),
]
FIGURES = [
    OpenApiParameter(
        "metric",
        str,
        description=f"At most {MOST_METRICS} of {', '.join(measures())}, with commas; the first is held against the "
        "baseline",
    ),
    OpenApiParameter("aggregate", str, enum=list(AGGREGATES), description="Of the replicates; mean where left out"),
    OpenApiParameter("baseline", str, description="The hash of a configuration, or a filter of the baseline's runs"),
]
OF_THE_PAGE = [
    OpenApiParameter(name, str, description="Of the page's chart: checked, and changes nothing here")
    for name in ("x", "y", "chart", "log", "raw")
]
"""So that a query of the page is one of REST."""
PAGED = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="At most 500")]


class CompareView(APIView):
    """`GET /api/compare/`."""

    @extend_schema(
        operation_id="compare_retrieve",
        parameters=[*CHOOSING, *FIGURES, *OF_THE_PAGE, *PAGED],
        responses=shapes.ComparisonSerializer,
    )
    def get(self, request: Request) -> Response:
        """Finished runs, their replicates grouped, each figure with its 95 % interval and n; with a `baseline` each
        group's difference to it, and whether that is shown to be better or worse.

        Replicates are paired by seed where they have seeds in common. Live and simulated runs are never in one group.
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
                description=f"Hashes of at most {MOST_DISTRIBUTIONS} configurations, with commas; the first ones where "
                "left out",
            ),
        ],
        responses=shapes.DistributionsSerializer,
    )
    def get(self, request: Request) -> Response:
        """How the response times of groups are distributed, from the samples."""
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
