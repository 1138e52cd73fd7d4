"""Cases of files in binary format: a server writes the rows of a drawn one; some are damaged."""

import random
from dataclasses import replace

from filediff.cases import Case, draw_case
from filediff.differ import CLEAN_UP, set_all
from filediff.tables import Dialect
from filediff.world import FileWorld

HEAD_BYTES = 19
"""The signature, the flags, and the length of what may come before the rows."""
LENGTHS = (b"\xff\xff\xff\xff", b"\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"\x00\x01")
"""What may stand in place of a length or of the number of columns."""


def binary_case(world: FileWorld, seed: int, number: int) -> Case | None:
    """Return the case of these numbers with its rows in binary format; None where stock cannot read
    them, or not write them so."""
    case = draw_case(seed, number, world.server)
    content = _written(world, case)
    if content is None:
        return None
    columns = tuple(replace(column, options={}) for column in case.table.columns)
    dialect = Dialect(format="binary", options={"format": "binary"})
    table = replace(case.table, columns=columns, dialect=dialect)
    damaged = _damaged(random.Random(f"{seed}:{number}"), content)
    return replace(case, table=table, content=damaged)


def _written(world: FileWorld, case: Case) -> bytes | None:
    """Return what stock's server writes of the rows that it reads."""
    read, written = world.file(case.filename), world.file("written")
    read.write_bytes(case.content)
    stock, _ = world.sides()
    steps = (
        *(CLEAN_UP, *set_all(case.settings), case.table.create(str(read))),
        f"COPY (SELECT * FROM t) TO '{written}' (FORMAT binary)",
    )
    stock.send("; ".join(steps))
    outcome = stock.receive()
    is_written = not outcome.lost and not outcome.results[-1].error
    return written.read_bytes() if is_written else None


def _damaged(rng: random.Random, content: bytes) -> bytes:
    """Return the file, half of the time with one thing wrong in it, mostly behind its head."""
    if rng.random() < 0.5:
        return content
    first = 0 if rng.random() < 0.1 else HEAD_BYTES
    place = rng.randint(min(first, len(content)), len(content))
    before, after = content[:place], content[place:]
    kind = rng.random()
    if kind < 0.25:
        return before
    if kind < 0.5:
        return before + bytes([rng.randrange(256)]) + after[1:]
    if kind < 0.75:
        length = rng.choice(LENGTHS)
        return before + length + after[len(length) :]
    if kind < 0.9:
        return before + rng.randbytes(rng.randint(1, 5)) + after
    return content + rng.choice((b"\0", b"\xff\xff", content))
