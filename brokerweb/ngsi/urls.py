"""URLs below ``/api/``."""

from django.urls import re_path

from brokerweb.ngsi.views import NgsiView

urlpatterns = [
    re_path(r"^networks/(?P<pk>[^/]+)/ngsi/(?:v2|ngsi-ld/v1)(?:/[\s\S]*)?\Z", NgsiView.as_view(), name="ngsi"),
]
