"""OpenSM."""
