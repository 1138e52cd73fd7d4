"""Numbers as people write them, by a column's options: `1.234,56 £`.

Written from the documentation: what may stand around a number, groups of three digits, the decimal
separator, an exponent. A text of another form is left alone if it has no digit, else refused.
"""

import random
import re
from collections.abc import Mapping

INVALID_TEXT = "22P02"
"""The SQLSTATE of a number of another form."""
NUMBERS = ("integer", "bigint", "numeric(8,2)", "double precision")
"""The types whose columns may have these options."""


class OtherFormError(Exception):
    """A text is no number of its column's form."""


def plain(text: str, options: Mapping[str, str]) -> str:
    """Return a number as PostgreSQL reads it. Raises `OtherFormError`."""
    if not {"decimal_separator", "thousands_separator", "strip"} & set(options):
        return text
    decimal = re.escape(options.get("decimal_separator", "."))
    around = "[ \t" + "".join(map(re.escape, options.get("strip", ""))) + "]*"
    whole = r"\d*"
    if separator := options.get("thousands_separator"):
        whole = rf"(?:\d{{1,3}}(?:{re.escape(separator)}\d{{3}})+|\d*)"
    number = re.fullmatch(
        rf"{around}([-+]?){around}({whole})(?:({decimal})(\d*))?([eE][-+]?\d+)?{around}",
        text,
        re.ASCII,
    )
    if number and (number[2] or number[4]):
        digits = re.sub(r"\D", "", number[2], flags=re.ASCII)
        point = "." if number[3] else ""
        return number[1] + digits + point + (number[4] or "") + (number[5] or "")
    if re.search("[0-9]", text):
        raise OtherFormError(text)
    return text


def draw_options(rng: random.Random) -> dict[str, str]:
    """Draw the options of a column of numbers."""
    options = {}
    if rng.random() < 0.7:
        options["decimal_separator"] = ","
    if rng.random() < 0.5:
        decimal = options.get("decimal_separator", ".")
        found = [x for x in (".", ",", "'", " ", "\u00a0") if x != decimal]
        options["thousands_separator"] = rng.choice(found)
    if rng.random() < 0.5 or not options:
        options["strip"] = rng.choice(("£$", "%", "$", "USD", "xX£"))
    return options


def written(rng: random.Random, text: str, options: Mapping[str, str]) -> str:
    """Return a number as a person may write it, or another text as it is; mostly in the form of
    the options."""
    if not (found := re.fullmatch(r"([-+]?)(\d+)(?:\.(\d+))?", text)):
        return text
    sign, whole, fraction = found.groups()
    if separator := options.get("thousands_separator"):
        step = 3 if rng.random() < 0.95 else 2
        if rng.random() < 0.3:
            whole += rng.choice(("000", "1", "12345"))
        places = range(len(whole) % step, len(whole), step)
        parts = [whole[: len(whole) % step], *(whole[x : x + step] for x in places)]
        whole = separator.join(filter(None, parts))
    decimal = options.get("decimal_separator", ".")
    number = whole if fraction is None else f"{whole}{decimal}{fraction}"
    if strip := options.get("strip"):
        mark = rng.choice(strip)
        forms = (f"{mark}{sign}{number}", f"{sign}{mark} {number}", f"{sign}{number} {mark} ")
        return rng.choice((*forms, sign + number))
    return sign + number
