"""Yum, Kim, Das, Yousif and Duato 2002: admission and congestion control for clusters."""
