"""Colours, maps, thumbnails and figures: what reports and notebooks draw with."""
