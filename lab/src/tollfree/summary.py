"""The table of gains in README.md, between two comments, made from stored runs (`savings`).

Run as a module it puts the table into the file; a test fails while it is another one.
"""

import re
from collections.abc import Iterable

from tollfree.paths import CHECKOUT
from tollfree.results import gain_text, rounds
from tollfree.savings import OURS, SHOWN, STOCK, Saving

README = CHECKOUT / "README.md"
BEGIN = "<!-- made by python -m tollfree.summary -->\n"
END = "<!-- end -->\n"


def table(savings: Iterable[Saving] = SHOWN) -> str:
    """Return the table as Markdown."""
    heading = f"| what | compared with | {STOCK} | {OURS} | run |\n|---|---|--:|--:|---|\n"
    return heading + "".join(f"{_line(saving)}\n" for saving in savings)


def _line(saving: Saving) -> str:
    run, gains = saving.findings(), saving.gains()
    page = f"docs/results/{run.run.suite}.md#{saving.run}"
    ratios = " | ".join(gain_text(gains[candidate]) for candidate in (STOCK, OURS))
    return f"| {saving.label} | {saving.beside} | {ratios} | [{rounds(run)}]({page}) |"


def with_table(text: str) -> str:
    """Return the README with the table as it is now."""
    pattern = f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})"
    return re.sub(pattern, lambda _: f"\n{table()}\n", text, flags=re.DOTALL)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
