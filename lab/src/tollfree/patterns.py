"""Regular expressions as PostgreSQL reads them, for names that are matched without a server.

The two dialects agree on almost everything that a person types. Syntax that they may read
differently (class escapes, character classes by name, errors of one of them) has no matcher here:
use a server.
"""

import re
from collections.abc import Callable

Matches = Callable[[str], bool]
"""Whether a name of one line has the pattern somewhere in it."""

_SHARED = re.compile(
    r"""(?:
        \( (?:\?:)? | [|^$]                         # nothing here can be repeated
        | (?: [^\\\[\](){}*+?|^$]                   # a character, or . for any
            | \\ [^A-Za-z0-9_]                      # one without its special meaning
            | \[ \^? (?: [A-Za-z0-9]-[A-Za-z0-9] | [^]\[\\^&~|-] )+ \]
            | \) )
          (?: [*+?] | \{ [0-9]{1,2} (?: , [0-9]{0,2} )? \} )?
    )*""",
    re.VERBOSE,
)
"""What means the same to both."""


def matcher(pattern: str) -> Matches | None:
    """Return what says whether a name matches; None where PostgreSQL alone can say it."""
    if not _SHARED.fullmatch(pattern):
        return None
    try:
        compiled = re.compile(pattern, re.DOTALL)
    except re.error:
        return None
    return lambda name: compiled.search(name) is not None
