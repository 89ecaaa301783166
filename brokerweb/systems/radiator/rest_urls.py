"""URLs of seed 003 below ``/api/``."""

from rest_framework.routers import SimpleRouter

from brokerweb.systems.radiator.messages.rest import RunMessageWays

router = SimpleRouter()
router.register("runs", RunMessageWays, basename="run-message-ways")
urlpatterns = router.urls
