"""The web process: HTTP to Django, websockets to the live consumers for whoever ``brokerweb.live.viewers`` lets in."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brokerweb.settings")
http = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (needs the apps loaded above)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from brokerweb.live.routing import websocket_urlpatterns  # noqa: E402
from brokerweb.live.viewers import OwnOrigin  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": OwnOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)), settings.ALLOWED_HOSTS),
    }
)
