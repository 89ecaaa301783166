"""The datagrams of Radiator, each described once; compression of blobs, and the proofs that datagrams carry. Pure."""
