"""The client's part: ``setup``, ``register_client``, ``unregister_client``, ``propagate_context``, and callbacks."""
