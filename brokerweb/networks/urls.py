"""URLs of the pages of networks and hosts."""

from django.urls import include, path

from brokerweb.live import hosts as live_hosts
from brokerweb.networks import change_views, views

networks = [
    path("", views.index, name="list"),
    path("new/", views.new, name="new"),
    path("<str:network_id>/", views.detail, name="detail"),
    path("<str:network_id>/brokers/", views.brokers, name="brokers"),
    path("<str:network_id>/brokers/<str:index>/", views.broker, name="broker"),
    path("<str:network_id>/brokers/<str:index>/restart/", views.restart_broker, name="restart-broker"),
    path("<str:network_id>/events/", views.events, name="events"),
    path("<str:network_id>/start/", views.start, name="start"),
    path("<str:network_id>/stop/", views.stop, name="stop"),
    path("<str:network_id>/change/", change_views.change, name="change"),
    path("<str:network_id>/resume/", change_views.resume, name="resume"),
    path("<str:network_id>/delete/", views.delete, name="delete"),
]
hosts = [path("", live_hosts.index, name="list")]
urlpatterns = [
    path("networks/", include((networks, "networks"))),
    path("hosts/", include((hosts, "hosts"))),
]
