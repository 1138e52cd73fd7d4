"""Compares a wrapper of flat files with stock file_fdw, case by case.

`values.py` has the types and the texts that stand for their values; `tables.py`, `files.py` and
`statements.py` draw tables, files and statements; `cases.py` puts a case together from a seed and
a number. `world.py` owns the two sides; `differ.py` runs cases on both, lists what may differ and
shortens a difference; `found.py` keeps those that there were. `exactness.py` compares with a table
instead, `workers.py` several processes with one, `rescans.py` scans that start again within a
query.
"""
