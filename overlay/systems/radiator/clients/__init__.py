"""The server's table of clients. Pure; knows no datagram and no propagation."""
