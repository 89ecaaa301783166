from django.apps import AppConfig


class ComparisonConfig(AppConfig):
    name = "brokerweb.comparison"
