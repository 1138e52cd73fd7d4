"""Reads files by the documentation alone, and compares a wrapper's record options with that.

The options that stock file_fdw does not have (`comment`, `missing_fields`, `columns 'by name'` and
so on) cannot be compared with stock. `rules.py` has what a table says of its files; `reader.py`
cuts a file into records and fields; `oracle.py` says which rows, error and counts a query must
have, with values converted by the server; `drawing.py` draws tables, `content.py` files and
`questions.py` queries; `packing.py` compresses; `checker.py` compares. `known.py` has
the faults that are known.
"""
