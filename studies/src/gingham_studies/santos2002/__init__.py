"""Santos, Turner and Janakiraman 2002: congestion detection in input-buffered switches."""
