"""Formats of other programs, in and out. What a format cannot say is named in `losses.py`, never invented."""
