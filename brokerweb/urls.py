"""The URLconf: REST with its documentation, health checks, admin, and the pages of apps and systems."""

from django.contrib import admin
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from brokerweb.api import health
from brokerweb.kit.view_guards import needs
from brokerweb.systems.registry import webs

PAGES = (
    "live",
    "finder",
    "accounts",
    "changelog",
    "topologies",
    "networks",
    "operationlog",
    "alarms",
    "bridges",
    "comparison",
    "reports",
    "studies",
    "storage",
    "notices",
    "calibration",
)
"""Apps with pages."""

handler500 = "brokerweb.error_views.server_error"

admin.site.site_header = admin.site.site_title = "Waxwing"
admin.site.index_title = "Administration"

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", include("brokerweb.api.urls")),
    path("healthz", needs(None)(health.healthz), name="healthz"),
    path("readyz", needs(None)(health.readyz), name="readyz"),
    path("metrics", needs(None)(health.metrics), name="metrics"),
    path("admin/", admin.site.urls),
    path(
        "favicon.ico", needs(None)(RedirectView.as_view(url=static("img/logo.svg")))
    ),  # for pages without an icon of their own
    path("", include("brokerweb.run_urls")),
    *(path("", include(f"brokerweb.{app}.urls")) for app in PAGES),
    *(path("", include(web.urls)) for web in webs() if web.urls),
]
