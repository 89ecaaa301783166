from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "brokerweb.reports"

    def ready(self) -> None:
        """Register the conditions that reports set on the queue and on deletion of runs."""
        from brokerweb.experiments import deletion_guards, queue_position
        from brokerweb.reports import queue, services

        deletion_guards.BY.append(services.is_being_made)
        queue_position.OTHERS.append(queue.in_the_way)
