from tests.log.servers import kafka, nats, valkey

__all__ = ["kafka", "nats", "valkey"]
