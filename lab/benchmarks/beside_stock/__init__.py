"""Everyday statements through stock and through our wrapper, and what each of them costs.

`statements` is the list, `tables` makes what the statements use, `figures` counts round trips, rows
and bytes on a link, and judges ours by stock's.
"""
