"""NICs, bonds, bridges and RDMA devices."""
