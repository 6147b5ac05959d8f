"""Flich, Malumbres, López and Duato 2001: in-transit buffers without their latency."""
