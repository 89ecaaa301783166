"""An ACK without a message is what ``encode`` writes of one."""

from hypothesis import given

from overlay.systems.context_broker.fast.acks import encode_ack
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import Ack
from tests.broker.strategies import addresses, operations, stamps, statuses


@given(stamps, statuses, operations, addresses)
def test_an_ack_is_what_encode_writes(stamp, status, operation, requester):
    assert encode_ack(stamp, status, operation, requester) == encode(Ack(stamp, status, operation, requester))
