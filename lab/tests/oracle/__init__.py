"""Compares a wrapper with stock postgres_fdw, statement by statement, over two copies of the data.

`grammar.txt` says what sessions are made of and `grammar.py` draws them from a seed; `world.py`
owns the two sides and puts them back between sessions; `side.py` sends a statement and keeps all
that comes back; `compare.py` decides what is a difference and lists what may differ; `oracle.py`
runs sessions through both sides; `minimise.py` shortens a session that shows a difference.
"""
