"""Kwan, Hu, Bambos, Kleinrock, Xu and Touch 1996: bandwidth reservation by segmentation."""
