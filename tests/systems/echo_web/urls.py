from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("echo-chamber/", lambda request: HttpResponse("echo"), name="echo-chamber")]
