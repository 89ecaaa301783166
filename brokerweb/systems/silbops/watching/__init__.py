"""What the brokers of a network say of themselves: the panel of one, and the clients of all."""
