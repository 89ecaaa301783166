"""URLs of seed 003 below ``/api/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.radiator.messages.rest import RunMessageWays
from brokerweb.systems.radiator.trying_rest import TryView
from overlay.systems.radiator.system import SYSTEM

router = SimpleRouter()
router.register("runs", RunMessageWays, basename="run-message-ways")
urlpatterns = [path(f"systems/{SYSTEM.name}/try/", TryView.as_view(), name="systems-try"), *router.urls]
