"""The ASGI application of the web process: HTTP to the data plane of networks and to Django, websockets to the live
consumers after authentication by ``brokerweb.live.websocket_auth``.
"""

import gc
import os
from functools import partial

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brokerweb.settings")
http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (needs the apps loaded above)
from channels.sessions import SessionMiddlewareStack  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from brokerweb.api.operations import operations  # noqa: E402
from brokerweb.body_limits import BodyLimit, Limits  # noqa: E402
from brokerweb.front.application import Front  # noqa: E402
from brokerweb.front.lifespan import Lifespan  # noqa: E402
from brokerweb.live.routing import websocket_urlpatterns  # noqa: E402
from brokerweb.live.websocket_auth import OwnOrigin  # noqa: E402
from brokerweb.ngsi.application import NgsiApplication  # noqa: E402
from brokerweb.ngsi.subscriptions.notifier import NOTIFIER  # noqa: E402
from brokerweb.systems.registry import contexts  # noqa: E402

limits = Limits(
    size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    seconds=settings.BODY_SECONDS,
    at_once=settings.BODIES_AT_ONCE,
    of_one_address=settings.BODIES_OF_ONE_ADDRESS,
)
limited = partial(BodyLimit, limits=limits)
front = Front(http, limited)
websockets = front.with_sockets(SessionMiddlewareStack(URLRouter(websocket_urlpatterns)))
application = ProtocolTypeRouter(
    {
        "http": NgsiApplication(front, limited, front.access),
        "lifespan": Lifespan(*contexts(), NOTIFIER),
        "websocket": OwnOrigin(websockets),
    }
)

_ = get_resolver().url_patterns  # loads views and forms now instead of at the first request
operations()
gc.collect()
gc.freeze()  # the collector does not look at what lives as long as this process
