"""Celery tasks of networks: short and idempotent. Return values appear in the worker's log."""

from celery import shared_task

from brokerweb.control import task_actions


@shared_task(name="networks.deploy", soft_time_limit=20, time_limit=30)
def deploy(network_id: str) -> str:
    return task_actions.deploy_network(network_id)


@shared_task(name="networks.stop", soft_time_limit=20, time_limit=30)
def stop(network_id: str) -> str:
    return task_actions.stop_network(network_id)
