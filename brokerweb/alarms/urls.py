"""URLs of alarms on the page of a network."""

from django.urls import include, path

from brokerweb.alarms import views

alarms = [
    path("", views.part, name="part"),
    path("new/", views.add, name="add"),
    path("<str:alarm_id>/delete/", views.delete, name="delete"),
]
urlpatterns = [path("networks/<str:network_id>/alarms/", include((alarms, "alarms")))]
