"""URLs of the home page and the queue."""

from django.urls import path

from brokerweb.live import queue_views, views

urlpatterns = [
    path("", views.home, name="home"),
    path("now/", views.now, name="home-now"),
    path("queue/pause/", queue_views.pause_queue, name="queue-pause"),
    path("queue/resume/", queue_views.resume_queue, name="queue-resume"),
]
