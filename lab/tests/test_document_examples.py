"""Statements in the documents that no test executes: they are SQL, and what they name of ours is
there."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from test_documents import documents

from tollfree.cluster import Cluster
from tollfree.paths import CHECKOUT
from tollfree.suites.foreign import recreate_database

pytestmark = pytest.mark.cluster

DATABASE = "document_examples"
WRAPPERS = ("tollfree_postgres_fdw", "tollfree_file_fdw")
BEGINNING = re.compile(
    r"(SELECT|ALTER|CREATE|DROP|GRANT|REVOKE|SET|RESET|ANALYZE|VACUUM|IMPORT|EXPLAIN|INSERT|UPDATE"
    r"|DELETE|MERGE|WITH|COPY|PREPARE|EXECUTE|DECLARE|FETCH|TRUNCATE|CALL)\s"
)
FUNCTION = re.compile(rf"\b((?:{'|'.join(WRAPPERS)})_\w+)\(")
SETTING = re.compile(rf"\b((?:{'|'.join(WRAPPERS)})\.[a-z]\w+)\b(?!\()")
FILES = (".c", ".h", ".md", ".sql", ".control", ".so", ".out", ".py")


def statements(document: Path) -> Iterator[str]:
    """Yield the statements of the indented blocks; one with `...` stands for many, and is none."""
    text = document.read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\n|\A)((?:^    .*\n)+)", text, re.MULTILINE):
        lines = [re.sub(r"\s+-- .*", "", line).strip() for line in block.splitlines()]
        for statement in "\n".join(lines).split(";\n"):
            if BEGINNING.match(statement) and "..." not in statement and "$ " not in statement:
                yield statement.rstrip(";")


STATEMENTS = [
    pytest.param(statement, id=f"{document.relative_to(CHECKOUT)} {n}")
    for document in documents()
    for n, statement in enumerate(statements(document), 1)
]


@pytest.fixture(scope="module")
def connection(pg_instance: Cluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection to a database with our extensions."""
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    with pg_instance.connect(DATABASE) as connection:
        for wrapper in WRAPPERS:
            connection.execute(f"CREATE EXTENSION {wrapper} CASCADE")
        yield connection


def test_there_are_statements() -> None:
    assert len(STATEMENTS) > 40


def parse(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> None:
    """Have a statement parsed, and not executed: as PL/pgSQL does when it makes a function."""
    connection.execute(
        "CREATE OR REPLACE FUNCTION pg_temp.f() RETURNS void LANGUAGE plpgsql"
        f" AS $f$ BEGIN {statement}; END $f$".encode()
    )


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_is_sql(
    statement: str, connection: psycopg.Connection[tuple[object, ...]]
) -> None:
    parse(connection, statement)


@pytest.mark.parametrize(
    "statement", ["SELECT 1 FORM items", "ALTER SERVER far OPTION (ADD x '1')"]
)
def test_a_statement_that_is_no_sql_is_found(
    statement: str, connection: psycopg.Connection[tuple[object, ...]]
) -> None:
    with pytest.raises(psycopg.errors.SyntaxError):
        parse(connection, statement)


def test_functions_and_settings_that_documents_name_exist(
    connection: psycopg.Connection[tuple[object, ...]],
) -> None:
    functions = {str(x) for (x,) in connection.execute("SELECT proname FROM pg_proc")}
    settings = {str(x) for (x,) in connection.execute("SELECT name FROM pg_settings")}
    unknown = set()
    for document in documents():
        if document.name == "CHANGELOG.md":
            continue  # has what is gone
        text = document.read_text(encoding="utf-8")
        unknown |= {(document.name, x) for x in FUNCTION.findall(text) if x not in functions}
        unknown |= {
            (document.name, x)
            for x in SETTING.findall(text)
            if x not in settings and not x.endswith(FILES)
        }
    assert unknown == set()
