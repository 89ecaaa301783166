"""URLs below ``/api/``."""

from django.urls import path, re_path

from brokerweb.ngsi.views import NgsiView

urlpatterns = [
    path("networks/<str:pk>/ngsi/v2", NgsiView.as_view(), name="ngsi-v2"),
    re_path(r"^networks/(?P<pk>[^/]+)/ngsi/v2/(?P<path>[\s\S]*)\Z", NgsiView.as_view()),
    re_path(r"^networks/(?P<pk>[^/]+)/ngsi/ngsi-ld/v1/(?P<path>[\s\S]*)\Z", NgsiView.as_view()),
]
