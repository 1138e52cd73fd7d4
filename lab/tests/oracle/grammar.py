r"""Draws sessions of SQL statements from a grammar in a text file.

    symbol:
        alternative
        3* [18+] alternative that is three times as likely, on PostgreSQL 18 and later only

In an alternative, `<symbol>` stands for one of that symbol's alternatives, `<2..7>` for a number
between these two, and ` ;; ` separates statements. `<nl>`, `<tab>` and `<empty>` stand for
themselves. Lines that begin with # are comments. Past `DEPTH_LIMIT` nested symbols only the first
alternative is taken, so the first one of a symbol must not lead back to itself.

What a session contains depends on seed, number and major version alone.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEPTH_LIMIT = 40
GRAMMAR_FILE = Path(__file__).with_name("grammar.txt")
SEPARATOR = " ;; "
LITERALS = {"nl": "\n", "tab": "\t", "empty": ""}

LINE = re.compile(r"(?:(?P<weight>\d+)\* )?(?:\[(?P<since>\d+)\+\] )?(?P<text>.*)")
REFERENCE = re.compile(r"<(?:(?P<symbol>[a-z_]+)|(?P<low>\d+)\.\.(?P<high>\d+))>")


@dataclass(frozen=True)
class Alternative:
    """One line of the grammar."""

    text: str
    weight: int
    since: int
    """The first major version that knows it, 0 for all."""


@dataclass(frozen=True)
class Grammar:
    """The alternatives of every symbol."""

    symbols: dict[str, tuple[Alternative, ...]]

    def session(self, seed: int, number: int, major: int) -> tuple[str, ...]:
        """Return the statements of session `number` of `seed`, for PostgreSQL `major`."""
        draw = Draw(self, random.Random(f"{seed} {number}"), major)
        return tuple(step.strip() for step in draw.expand("session").split(SEPARATOR))


@dataclass(frozen=True)
class Draw:
    """One walk through the grammar."""

    grammar: Grammar
    chance: random.Random
    major: int

    def expand(self, symbol: str, depth: int = 0) -> str:
        """Return a text that `symbol` stands for."""
        known = [a for a in self.grammar.symbols[symbol] if a.since <= self.major]
        if depth > DEPTH_LIMIT:
            chosen = known[0]
        else:
            chosen = self.chance.choices(known, [a.weight for a in known])[0]
        return REFERENCE.sub(lambda found: self._replace(found, depth), chosen.text)

    def _replace(self, found: re.Match[str], depth: int) -> str:
        if found["low"]:
            return str(self.chance.randint(int(found["low"]), int(found["high"])))
        literal = LITERALS.get(found["symbol"])
        return self.expand(found["symbol"], depth + 1) if literal is None else literal


def read_grammar(path: Path = GRAMMAR_FILE) -> Grammar:
    """Return the grammar in `path`; raises `ValueError` for a symbol that is used and not
    defined, or defined and not used."""
    symbols: dict[str, tuple[Alternative, ...]] = {}
    for symbol, alternative in _lines(path):
        symbols[symbol] = (*symbols.get(symbol, ()), alternative)
    texts = " ".join(a.text for alternatives in symbols.values() for a in alternatives)
    used = {found["symbol"] for found in REFERENCE.finditer(texts) if found["symbol"]}
    wrong = (used - set(LITERALS)) ^ (set(symbols) - {"session"})
    if wrong:
        raise ValueError(f"{path}: not both defined and used: {', '.join(sorted(wrong))}")
    return Grammar(symbols)


def _lines(path: Path) -> Iterator[tuple[str, Alternative]]:
    symbol = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            symbol = line.removesuffix(":")
            continue
        parts = LINE.fullmatch(line.strip())
        assert parts, "LINE matches everything"
        yield (
            symbol,
            Alternative(parts["text"], int(parts["weight"] or 1), int(parts["since"] or 0)),
        )
