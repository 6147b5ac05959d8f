"""Virtual channels on a mesh and a torus of 8x8 switches: Dally 1992 and later papers."""
