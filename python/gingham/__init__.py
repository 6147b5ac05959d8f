"""A laboratory for lossless cluster fabrics: load, route, prove, simulate to the flit."""
