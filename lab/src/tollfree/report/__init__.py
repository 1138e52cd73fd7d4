"""The report: one self-contained HTML file, made from values that know nothing of HTML.

`model` is the contract with the suites, `page` turns a `Report` into a page.
"""

from tollfree.report.model import Report
from tollfree.report.page import render, write

__all__ = ["Report", "render", "write"]
