from tests.log.servers import kafka, nats, nats_server, valkey

__all__ = ["kafka", "nats", "nats_server", "valkey"]
