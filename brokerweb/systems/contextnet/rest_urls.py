"""URLs of seed 004 below ``/api/``."""

from rest_framework.routers import SimpleRouter

from brokerweb.systems.contextnet.gateways.rest import NetworkGateways, RunGateways
from brokerweb.systems.contextnet.map.rest import RunRegionMaps
from brokerweb.systems.contextnet.messages.rest import RunNodeMessages

router = SimpleRouter()
router.register("runs", RunNodeMessages, basename="run-node-messages")
router.register("runs", RunGateways, basename="run-gateways")
router.register("runs", RunRegionMaps, basename="run-region-map")
router.register("networks", NetworkGateways, basename="network-gateways")
urlpatterns = router.urls
