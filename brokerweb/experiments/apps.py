from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "brokerweb.experiments"
