"""Section 6 with real TCP: two daemons over raw Ethernet between network namespaces.

``namespaces`` makes network namespaces, ``lines`` joins two of them, ``relay`` loses frames between
them, ``ends`` runs the daemons, ``traffic`` sends and receives through them. ``measures`` uses all
of these, each number once, for the claims of ``real.toml``.
"""
