"""The same statements through stock postgres_fdw and through the wrapper under test."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import walked_numbers
from oracle.compare import Allowance, Comparer, allowances, row_difference
from oracle.grammar import read_grammar
from oracle.minimise import minimise
from oracle.oracle import Oracle
from oracle.sessions import run_sessions
from oracle.side import Outcome, Report, Result
from oracle.world import STOCK, Instances, World


@pytest.fixture(scope="module")
def world(instances: Instances, wrapper: str) -> Iterator[World]:
    """Both sides."""
    world = World(instances, wrapper)
    yield world
    world.close()


@pytest.mark.walk(numbered=True)
@pytest.mark.cluster
def test_no_session_differs(
    world: World, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    count: int = pytestconfig.getoption("--oracle-sessions")
    numbers = walked_numbers(pytestconfig, count)
    tally = run_sessions(world, pytestconfig, numbers, "tests/test_oracle.py")
    with capsys.disabled():
        print(f"\noracle: {tally}")


@dataclass(frozen=True)
class Mutation:
    """A candidate that is wrong in one thing, behind the oracle's back."""

    where: str
    make: str
    undo: str
    session: tuple[str, ...]
    reason: str
    """How the reason that the oracle gives begins."""


MUTATIONS = {
    "a value": Mutation(
        "local",
        "ALTER DATABASE candidate SET timezone = 'Asia/Tokyo'",
        "ALTER DATABASE candidate RESET timezone",
        ("SELECT id, tz FROM wide",),
        "rows only in stock",
    ),
    "a column": Mutation(
        "local",
        """ALTER FOREIGN TABLE odd ALTER COLUMN q OPTIONS (SET column_name 'Key Col')""",
        """ALTER FOREIGN TABLE odd ALTER COLUMN q OPTIONS (SET column_name 'a"quote')""",
        ("SELECT k FROM odd", "DELETE FROM odd WHERE q = 1"),
        "command tag",
    ),
    "a type": Mutation(
        "local",
        "ALTER FOREIGN TABLE texts ALTER COLUMN v TYPE varchar",
        "ALTER FOREIGN TABLE texts ALTER COLUMN v TYPE text",
        ("SELECT id FROM texts", "SELECT v FROM texts WHERE id = 1"),
        "columns",
    ),
    "an error that does not come": Mutation(
        "remote",
        "ALTER TABLE account DROP CONSTRAINT account_balance_check",
        "ALTER TABLE account ADD CONSTRAINT account_balance_check CHECK (balance >= 0)",
        ("BEGIN", "UPDATE account SET balance = -1 WHERE id = 3"),
        "error",
    ),
    "an error's words": Mutation(
        "remote",
        "ALTER TABLE account RENAME CONSTRAINT account_balance_check TO other",
        "ALTER TABLE account RENAME CONSTRAINT other TO account_balance_check",
        ("UPDATE account SET balance = -1 WHERE id = 3",),
        "error",
    ),
    "another error, which the statement does not have": Mutation(
        "local",
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN RAISE division_by_zero; END';"
        " CREATE TRIGGER refuse BEFORE UPDATE ON account"
        " FOR EACH ROW EXECUTE FUNCTION refuse()",
        "DROP FUNCTION refuse CASCADE",
        ("UPDATE account SET balance = -1 WHERE id = 3 AND random() >= 0",),
        "error",
    ),
    "a lost write": Mutation(
        "remote",
        "CREATE RULE lost AS ON DELETE TO holey DO INSTEAD NOTHING",
        "DROP RULE lost ON holey",
        ("SELECT * FROM holey", "DELETE FROM holey WHERE a = 3"),
        "command tag",
    ),
    "a write that nobody reports": Mutation(
        "remote",
        "CREATE RULE twice AS ON INSERT TO holey WHERE new.a = 50"
        " DO ALSO INSERT INTO texts VALUES (99, 'twice')",
        "DROP RULE twice ON holey",
        ("INSERT INTO holey VALUES (50)", "SELECT * FROM bag"),
        "remote tables",
    ),
    "a plan": Mutation(
        "local",
        "ALTER FOREIGN TABLE bag DROP COLUMN w",
        "ALTER FOREIGN TABLE bag ADD COLUMN w double precision",
        ("/* ordered */ EXPLAIN (VERBOSE, COSTS OFF) SELECT bag FROM bag",),
        "rows only in stock",
    ),
}


@pytest.mark.cluster
@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_wrong_candidate_is_found(world: World, mutation: Mutation) -> None:
    oracle = Oracle(world)
    assert oracle.run(mutation.session) is None
    world.execute(mutation.where, "candidate", mutation.make)
    try:
        found = oracle.run(mutation.session)
    finally:
        world.execute(mutation.where, "candidate", mutation.undo)
    assert found is not None
    assert found.reason.startswith(mutation.reason)
    assert oracle.run(mutation.session) is None


@pytest.mark.cluster
def test_random_sessions_find_a_wrong_candidate_and_shorten(
    world: World, pytestconfig: pytest.Config
) -> None:
    seed: int = pytestconfig.getoption("--oracle-seed")
    mutation = MUTATIONS["an error's words"]
    grammar, oracle = read_grammar(), Oracle(world)
    sessions = (grammar.session(seed, number, world.major) for number in range(200))
    world.execute(mutation.where, "candidate", mutation.make)
    try:
        found = next(filter(None, map(oracle.run, sessions)))
        shortened = oracle.shorten(found)
    finally:
        world.execute(mutation.where, "candidate", mutation.undo)
    assert "account_balance_check" in shortened.reason
    assert len(shortened.session) < len(found.session)
    assert len(shortened.session) <= 3


@pytest.mark.cluster
@pytest.mark.parametrize(
    "fatal",
    [
        "SELECT pg_terminate_backend(pg_backend_pid())",
        "COPY (SELECT 1) TO PROGRAM 'kill -KILL $PPID'",
    ],
    ids=["terminated", "crashed"],
)
def test_a_lost_connection_is_a_difference_on_both_sides(world: World, fatal: str) -> None:
    found = Oracle(world).run((fatal,))
    assert found is not None
    assert "lost its connection" in found.reason
    assert Oracle(world).run(("SELECT * FROM bag",)) is None


def test_a_session_depends_on_its_numbers_alone() -> None:
    grammar = read_grammar()
    assert grammar.session(1, 7, 15) == grammar.session(1, 7, 15)
    assert grammar.session(1, 7, 15) != grammar.session(1, 8, 15)
    assert grammar.session(1, 7, 15) != grammar.session(2, 7, 15)


def test_newer_statements_are_for_newer_servers(tmp_path: Path) -> None:
    path = tmp_path / "grammar.txt"
    path.write_text("session:\n    SELECT old\n    1000000* [18+] SELECT new\n")
    grammar = read_grammar(path)
    assert grammar.session(1, 1, 17) == ("SELECT old",)
    assert grammar.session(1, 1, 18) == ("SELECT new",)


def test_every_alternative_of_the_grammar_is_drawn() -> None:
    grammar = read_grammar()
    sessions = (grammar.session(1, number, 18) for number in range(3000))
    drawn = {statement.split("<nl>")[0] for session in sessions for statement in session}
    text = "\n".join(drawn)
    for symbol in ("write", "failing", "cursor", "import", "locking", "merge", "several_change"):
        for alternative in grammar.symbols[symbol]:
            fixed = max(re.split(r"<[^ >]+>| ;; ", alternative.text), key=len)
            assert fixed in text, f"never drawn: {symbol}: {alternative.text}"


def test_a_grammar_with_an_unknown_symbol_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "grammar.txt"
    path.write_text("session:\n    SELECT <misspelt>\n")
    with pytest.raises(ValueError, match="misspelt"):
        read_grammar(path)


def test_rows_are_a_multiset_unless_they_are_ordered() -> None:
    rows = ((b"1",), (b"2",), (b"2",))
    backwards = tuple(reversed(rows))
    assert row_difference(rows, backwards, ordered=False) == ""
    assert row_difference(rows, backwards, ordered=True) == "the order of the rows"
    assert "rows only in stock: 1" in row_difference(rows, rows[:2], ordered=False)


def failed(**fields: str) -> Outcome:
    return Outcome((Result("FATAL_ERROR", error=Report(tuple(fields.items()))),))


INSERT_OF_A_ROW = "remote SQL command: INSERT INTO public.t(a, b, c) VALUES ($1, DEFAULT, $2)"


@pytest.mark.parametrize(
    ("stock", "candidate", "equal"),
    [
        ({"MESSAGE_PRIMARY": "a postgres_fdw table"}, {"MESSAGE_PRIMARY": "a mine table"}, True),
        (
            {"CONTEXT": "remote SQL command: DECLARE c1 CURSOR FOR\nSELECT 1"},
            {"CONTEXT": "remote SQL command: SELECT 1"},
            True,
        ),
        (
            {"CONTEXT": f"{INSERT_OF_A_ROW}, ($3, DEFAULT, $4)"},
            {"CONTEXT": INSERT_OF_A_ROW},
            False,
        ),
        (
            {"CONTEXT": f"{INSERT_OF_A_ROW} ON CONFLICT DO NOTHING"},
            {"CONTEXT": INSERT_OF_A_ROW},
            False,
        ),
        (
            {"CONTEXT": "remote SQL command: SELECT k FROM public.part_low FOR UPDATE"},
            {"CONTEXT": "remote SQL command: SELECT k FROM public.part_high FOR UPDATE"},
            True,
        ),
        (
            {"CONTEXT": "remote SQL command: SELECT k FROM public.part_low FOR UPDATE"},
            {"CONTEXT": "remote SQL command: SELECT k FROM public.part_high"},
            False,
        ),
        (
            {"CONTEXT": "remote SQL command: SELECT k FROM public.bag"},
            {"CONTEXT": "remote SQL command: SELECT k FROM public.big"},
            False,
        ),
        (
            {"MESSAGE_HINT": "Valid options in this context are: a"},
            {"MESSAGE_HINT": 'Perhaps you meant the option "b".'},
            True,
        ),
        ({"SQLSTATE": "23505"}, {"SQLSTATE": "23514"}, False),
        ({"MESSAGE_DETAIL": "Key (id)=(1)."}, {"MESSAGE_DETAIL": "Key (id)=(2)."}, False),
        ({"MESSAGE_PRIMARY": "x", "MESSAGE_HINT": "do"}, {"MESSAGE_PRIMARY": "x"}, False),
    ],
)
def test_only_what_is_allowed_may_differ(
    stock: dict[str, str], candidate: dict[str, str], equal: bool
) -> None:
    reason = Comparer(allowances("mine")).difference(
        "SELECT 1", failed(**stock), failed(**candidate)
    )
    assert (reason == "") is equal


@pytest.mark.parametrize(
    ("statement", "equal"),
    [
        (
            "INSERT INTO big SELECT b.id, a.owner FROM big b JOIN account a ON b.id % 40 = a.id",
            True,
        ),
        ("INSERT INTO big SELECT b.id FROM big b JOIN account a USING (id) ORDER BY 1", False),
        ("INSERT INTO big SELECT g FROM generate_series(1, 9) g", False),
    ],
)
def test_the_first_duplicate_key_is_any_where_rows_have_no_order(
    statement: str, equal: bool
) -> None:
    stock, candidate = (
        failed(SQLSTATE="23505", MESSAGE_DETAIL=f"Key (id)=({number}) already exists.")
        for number in (1081, 1004)
    )
    assert (Comparer(allowances(STOCK)).difference(statement, stock, candidate) == "") is equal


@pytest.mark.parametrize(
    ("statement", "equal"),
    [
        ("UPDATE wide w SET n = 1 WHERE coalesce(w.c2, 3) = 2", True),
        ("UPDATE wide w SET n = 1 WHERE w.b IS NOT TRUE", True),
        ("UPDATE wide w SET n = 1 WHERE w.c2 = 2", False),
    ],
)
def test_another_command_may_fail_where_a_condition_is_sent_in_another_form(
    statement: str, equal: bool
) -> None:
    stock, candidate = (
        failed(
            SQLSTATE="25006",
            MESSAGE_PRIMARY=f"cannot execute {command} in a read-only transaction",
            CONTEXT=f"remote SQL command: {command} public.wide",
        )
        for command in ("SELECT FOR UPDATE", "UPDATE")
    )
    assert (Comparer(allowances(STOCK)).difference(statement, stock, candidate) == "") is equal
    other = failed(SQLSTATE="22012", CONTEXT="remote SQL command: UPDATE public.wide")
    assert Comparer(allowances(STOCK)).difference(statement, stock, other) != ""


@pytest.mark.cluster
def test_either_error_of_a_statement_that_has_two(world: World) -> None:
    """The first row is refused there, and the third divides by zero here."""
    session = ("UPDATE account SET balance = balance / (id - 3)", "SELECT * FROM account")
    assert Oracle(world).run(session) is None


def test_a_field_that_may_be_missing_altogether() -> None:
    comparer = Comparer((Allowance("CONTEXT", re.compile(r"^parallel worker$"), "", "chance"),))
    worker = failed(SQLSTATE="22003", CONTEXT="parallel worker")
    other = failed(SQLSTATE="22003", CONTEXT="COPY t, line 1")
    assert comparer.difference("SELECT 1", failed(SQLSTATE="22003"), worker) == ""
    assert comparer.difference("SELECT 1", failed(SQLSTATE="22003"), other) != ""


def test_a_notice_too_few_is_a_difference() -> None:
    result = Result("DO")
    loud = Outcome((result,), (Report((("MESSAGE_PRIMARY", "look"),)),))
    assert (
        Comparer(allowances(STOCK)).difference("DO", loud, Outcome((result,))).startswith("notices")
    )


def test_minimise_keeps_what_the_difference_needs() -> None:
    session = [str(number) for number in range(40)]
    assert minimise(session, lambda tried: {"7", "31"} <= set(tried)) == ("7", "31")
    assert minimise(session, lambda tried: False) == tuple(session)


def test_minimise_stops_when_its_trials_are_used_up() -> None:
    tried: list[tuple[str, ...]] = []

    def differs(session: tuple[str, ...]) -> bool:
        tried.append(session)
        return False

    minimise([str(number) for number in range(40)], differs, most_trials=5)
    assert len(tried) == 5
