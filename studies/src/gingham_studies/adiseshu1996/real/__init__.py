"""Section 6 with real TCP: two daemons over raw Ethernet between network namespaces.

``namespaces`` are places of their own with interfaces, ``lines`` what joins two of them, ``relay``
loses frames between them, ``ends`` are the daemons, ``traffic`` is what goes through; ``measures``
asks for all of it, once a claim of ``real.toml`` wants a number.
"""
