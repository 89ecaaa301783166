"""URLs of the pages of studies."""

from django.urls import path

from brokerweb.studies import views

app_name = "studies"
urlpatterns = [
    path("studies/", views.index, name="list"),
    path("studies/<str:study_id>/", views.detail, name="detail"),
    path("studies/<str:study_id>/progress/", views.progress, name="progress"),
    path("studies/<str:study_id>/launch/", views.launch, name="launch"),
    path("experiments/<str:experiment_id>/claims/", views.of_experiment, name="of_experiment"),
]
