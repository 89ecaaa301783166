"""URLs of bridges on the page of a network."""

from django.urls import include, path

from brokerweb.bridges import views

bridges = [
    path("", views.part, name="part"),
    path("new/", views.new, name="new"),
    path("<int:number>/edit/", views.edit, name="edit"),
    path("<int:number>/switch/", views.switch, name="switch"),
    path("<int:number>/delete/", views.delete, name="delete"),
]
urlpatterns = [path("networks/<str:network_id>/bridges/", include((bridges, "bridges")))]
