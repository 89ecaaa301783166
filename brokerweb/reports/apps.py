from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "brokerweb.reports"

    def ready(self) -> None:
        """Tell the queue of runs what reports need of it."""
        from brokerweb.experiments import deletion_guards, queue_position
        from brokerweb.reports import queue, services

        deletion_guards.BY.append(services.is_being_made)
        queue_position.OTHERS.append(queue.in_the_way)
