from django.apps import AppConfig


class NgsiConfig(AppConfig):
    name = "brokerweb.ngsi"
    verbose_name = "NGSI"
