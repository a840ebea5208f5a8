"""Colours, maps, thumbnails and figures for reports and notebooks."""
