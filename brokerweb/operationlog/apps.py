from django.apps import AppConfig


class OperationLogConfig(AppConfig):
    name = "brokerweb.operationlog"
    verbose_name = "operation log"
