"""The page cache, as tests of what comes from the disk need it."""

import os
from pathlib import Path

ATTEMPTS = 5
"""At finding what was just read in the page cache: a machine may take it back at any moment."""


def evict(file: Path) -> int:
    """Take a file out of the page cache and return its size."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return file.stat().st_size
