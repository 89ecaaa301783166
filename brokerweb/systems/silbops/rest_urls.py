"""URLs of seed 002 below ``/api/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.silbops.breakeven.rest import BreakEvenView
from brokerweb.systems.silbops.map.rest import RunMaps

router = SimpleRouter()
router.register("runs", RunMaps, basename="run-map")
urlpatterns = [
    *router.urls,
    path("studies/E2.6/break-even/", BreakEvenView.as_view(), name="silbops-break-even-rest"),
]
