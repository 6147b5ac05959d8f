"""Section 6 with real TCP: two daemons over raw Ethernet between network namespaces.

``namespaces`` creates network namespaces, ``lines`` joins two of them, ``relay`` drops frames
between them, ``ends`` runs the daemons, and ``traffic`` sends and receives through them.
``measures`` takes each number once, for the claims of ``real.toml``.
"""
