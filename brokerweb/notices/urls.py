"""URLs of the pages of notifications."""

from django.urls import include, path

from brokerweb.notices import views

targets = [
    path("new/", views.new, name="new"),
    path("deliveries/", views.deliveries, name="deliveries"),
    path("<str:target_id>/", views.edit, name="edit"),
    path("<str:target_id>/switch/", views.switch, name="switch"),
    path("<str:target_id>/test/", views.test, name="test"),
    path("<str:target_id>/delete/", views.delete, name="delete"),
]
urlpatterns = [
    path("notifications/", views.index, name="notifications"),
    path("notifications/", include((targets, "targets"))),
]
