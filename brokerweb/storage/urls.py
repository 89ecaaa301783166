"""URLs of the storage page."""

from django.urls import include, path

from brokerweb.retention import views

storage = [
    path("change/", views.change, name="change"),
    path("preview/", views.preview, name="preview"),
    path("apply/", views.apply, name="apply"),
    path("runs/<str:run_id>/keep/", views.keep, name="keep"),
]
urlpatterns = [
    path("storage/", views.index, name="storage"),
    path("storage/", include((storage, "storage-actions"))),
]
