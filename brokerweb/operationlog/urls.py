"""URLs of the pages of the operation log."""

from django.urls import path

from brokerweb.operationlog import views

urlpatterns = [path("networks/<str:network_id>/operations/", views.index, name="operations")]
