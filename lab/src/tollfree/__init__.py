"""tollfree: measures the toll of every road to data outside PostgreSQL's own tables."""

__version__ = "0.2.0"
