from django.apps import AppConfig


class WirelabConfig(AppConfig):
    name = "brokerweb.wirelab"
