from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "brokerweb.reports"
