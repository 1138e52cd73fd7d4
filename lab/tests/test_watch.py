"""`tollfree check --watch`: which lines of two reports count as changed, and the command itself."""

import os
import signal
import time
from collections.abc import Iterator

import pytest
from command_line import start

from tollfree.check.model import Report
from tollfree.check.watch import differences, watch
from tollfree.cluster import Cluster
from tollfree.errors import EnvironmentLacksError, ExitCode
from tollfree.suites.foreign import recreate_database

BEFORE = [
    "PostgreSQL 18.1, database shop, user app",
    "",
    "server shop (postgres_fdw, owner app)",
    "  round trip 1.17 ms (least 1.17)",
    "  public.orders: about 100,000 rows",
    "",
    "What to do:",
    "* server shop: You can switch it",
]
DATABASE = "watched"
LIMIT_S = 60.0


def changed(number: int, line: str) -> list[str]:
    return list(differences(BEFORE, [*BEFORE[:number], line, *BEFORE[number + 1 :]]))


def test_the_same_report_has_no_differences() -> None:
    assert list(differences(BEFORE, BEFORE)) == []


def test_a_figure_has_changed_if_by_more_than_a_tenth() -> None:
    assert changed(3, "  round trip 1.25 ms (least 1.16)") == []
    assert changed(3, "  round trip 1.45 ms (least 1.17)") == [
        "  server shop (postgres_fdw, owner app)",
        "- " + BEFORE[3],
        "+   round trip 1.45 ms (least 1.17)",
    ]
    assert changed(4, "  public.orders: about 80,000 rows")[1:] == [
        "- " + BEFORE[4],
        "+   public.orders: about 80,000 rows",
    ]


def test_other_words_are_a_change_whatever_the_figures() -> None:
    assert changed(4, "  public.orders: never analyzed")[1:] == [
        "- " + BEFORE[4],
        "+   public.orders: never analyzed",
    ]
    assert changed(0, "PostgreSQL 18.1, database shop, user me") == [
        "- " + BEFORE[0],
        "+ PostgreSQL 18.1, database shop, user me",
    ]


def test_lines_that_come_and_go_are_below_their_heading() -> None:
    gone = [*BEFORE[:4], *BEFORE[5:]]
    assert list(differences(BEFORE, gone)) == ["  " + BEFORE[2], "- " + BEFORE[4]]
    assert list(differences(gone, BEFORE)) == ["  " + BEFORE[2], "+ " + BEFORE[4]]


def test_a_server_that_is_not_reached_is_a_change_and_no_end() -> None:
    def looks() -> Iterator[Report | None]:
        yield from (report, None, None, report)

    report = Report("18.1", "shop", "app", (), (), (), (), (), (), (), ())
    answers = looks()

    def look() -> Report:
        answer = next(answers)
        if answer is None:
            raise EnvironmentLacksError("shop is not reached", "Start it.")
        return answer

    said = [text for _, text in zip(range(3), watch(look, 0), strict=False)]
    first = "PostgreSQL 18.1, database shop, user app"
    assert [text for _, text in said] == [
        [first],
        [f"- {first}", "+ shop is not reached"],
        ["- shop is not reached", f"+ {first}"],
    ]


def test_the_first_report_must_be_had() -> None:
    def look() -> Report:
        raise EnvironmentLacksError("shop is not reached", "Start it.")

    with pytest.raises(EnvironmentLacksError):
        next(watch(look, 0))


@pytest.mark.cluster
def test_watch_shows_a_new_server_and_ends_by_ctrl_c(pg_instance: Cluster) -> None:
    with pg_instance.connect() as connection:
        recreate_database(connection, DATABASE)
    process = start("check", "--watch", "1", pg_instance.conninfo(DATABASE))
    assert process.stdout
    os.set_blocking(process.stdout.fileno(), False)
    try:
        until(process.stdout.fileno(), f"database {DATABASE}")
        with pg_instance.connect(DATABASE) as connection:
            connection.execute("CREATE EXTENSION postgres_fdw")
            connection.execute("CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw")
        assert "+ server far (postgres_fdw" in until(process.stdout.fileno(), "+ server far")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == ExitCode.INTERRUPTED


def until(descriptor: int, wanted: str) -> str:
    """Read until something is there that was wanted; return all that was read."""
    text, deadline = "", time.monotonic() + LIMIT_S
    while wanted not in text:
        assert time.monotonic() < deadline, text
        try:
            text += os.read(descriptor, 65536).decode()
        except BlockingIOError:
            time.sleep(0.05)
    return text
