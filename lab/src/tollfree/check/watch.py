"""A report again and again: what has changed since the one before.

Figures of times differ each time; a line counts as changed if its words are others, or if one of
its figures has changed by more than a tenth.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from difflib import SequenceMatcher

from tollfree.check.model import Report
from tollfree.check.text import lines
from tollfree.errors import LabError

FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
LEAST_CHANGE = 0.1
"""As a share of the larger of two figures."""


def watch(look: Callable[[], Report], pause_s: float) -> Iterator[tuple[datetime, list[str]]]:
    """Yield the first report's lines, then what has changed whenever something has; never ends.

    Raises `LabError` if the server is not reached at first. Later that is a change like others.
    """
    seen = list(lines(look()))
    yield datetime.now(), seen
    while True:
        time.sleep(pause_s)
        try:
            found = list(lines(look()))
        except LabError as error:
            found = [error.message]
        changed = list(differences(seen, found))
        if changed:
            yield datetime.now(), changed
            seen = found


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield the lines that went (`- `) and came (`+ `), each group behind the line it is below."""
    headings = _headings(before), _headings(after)
    shown = ""
    for removed, added in _changes(before, after):
        heading = headings[1][added[0]] if added else headings[0][removed[0]]
        old, new = [before[number] for number in removed], [after[number] for number in added]
        if heading and heading != shown and heading not in (*old, *new):
            yield f"  {heading}"
            shown = heading
        yield from (f"- {line}" for line in old if line)
        yield from (f"+ {line}" for line in new if line)


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Yield which lines were replaced by which; either may be none, not both."""
    words = [[FIGURE.sub("#", line) for line in text] for text in (before, after)]
    for kind, a, b, c, d in SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes():
        if kind != "equal":
            yield range(a, b), range(c, d)
            continue
        for old, new in zip(range(a, b), range(c, d), strict=True):
            if _has_changed(before[old], after[new]):
                yield range(old, old + 1), range(new, new + 1)


def _has_changed(before: str, after: str) -> bool:
    """Return whether a figure of a line, whose words are the same, has changed much."""
    pairs = zip(_figures(before), _figures(after), strict=True)
    return any(abs(old - new) > LEAST_CHANGE * max(old, new) for old, new in pairs)


def _figures(line: str) -> list[float]:
    return [float(figure.replace(",", "")) for figure in FIGURE.findall(line)]


def _headings(text: Sequence[str]) -> list[str]:
    """Return, for each line, the last line before it that is not indented."""
    found, heading = [], ""
    for line in text:
        found.append(heading)
        if line and not line.startswith(" "):
            heading = line
    return found
