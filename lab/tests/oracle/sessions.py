"""Runs drawn sessions in a world, as the options of a test run say."""

import re

import pytest

from oracle.grammar import read_grammar
from oracle.oracle import Difference, Oracle
from oracle.world import STOCK, World

SERIALIZABLE = re.compile("serializable", re.IGNORECASE)
"""No transaction of a standby is. Stock begins it with the first server that a statement names, the
wrapper with the first that it asks; the one that has been refused is good for nothing until the
local transaction ends."""


def run_sessions(world: World, pytestconfig: pytest.Config, numbers: range, test: str) -> str:
    """Run these sessions, or the one that was asked for; return what has been compared.

    Fails with the first difference; `test` names the test that repeats it.
    """
    seed: int = pytestconfig.getoption("--oracle-seed")
    only: int | None = pytestconfig.getoption("--oracle-session")
    grammar, oracle = read_grammar(), Oracle(world)
    for number in numbers if only is None else (only,):
        session = grammar.session(seed, number, world.major)
        if world.is_standby:
            session = tuple(SERIALIZABLE.sub("REPEATABLE READ", each) for each in session)
        try:
            difference = oracle.run(session)
        except RuntimeError as error:
            error.add_note(f"seed {seed}, session {number}, or what the one before left behind")
            raise
        if difference:
            pytest.fail(_explanation(oracle, difference, seed, number, test), pytrace=False)
    itself = " ITSELF" if world.wrapper == STOCK else ""
    where = f"seed {seed}, from {numbers.start}"
    return f"{world.wrapper} against {STOCK}{itself}, {where}: {oracle.tally}"


def _explanation(oracle: Oracle, difference: Difference, seed: int, number: int, test: str) -> str:
    """Return what a person needs to see and to repeat a difference."""
    return "\n".join(
        (
            f"seed {seed}, session {number}, statement {difference.position + 1}:"
            f" {difference.reason}",
            "",
            "shortened:",
            str(oracle.shorten(difference)),
            "",
            f"pytest {test} --oracle-seed {seed} --oracle-session {number}",
        )
    )
