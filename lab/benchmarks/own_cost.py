"""What the lab itself adds to a case: a no-op command through `exectestcases`.

Prints, over many executions of `true`, what the command took by the runner's own clock and what
one execution took in all: starting the command, reading its output, storing the row. Leaves
nothing in the database. Run it on a quiet machine: `make bench`.
"""

import statistics
import sys
import time
from itertools import pairwise

from tollfree.lab import Lab
from tollfree.paths import lab_home
from tollfree.postgres import buildable_installation, clear_libpq_environment
from tollfree.privileges import server_user
from tollfree.store import Store

CASES = 50
ROUNDS = 10
BATCHES = 5

TIMED_RUN = """
SELECT lab.exectestcases('/usr/bin:/bin', '', '', %s, 'custom', 'quick', '^no-op ')
"""


def measure(store: Store) -> tuple[list[float], list[float]]:
    """Return per batch the milliseconds of one execution in all, and of its command alone."""
    connection = store.connection
    with connection.transaction(force_rollback=True):
        connection.execute(
            "INSERT INTO lab.custom_cases (testcase, argv)"
            " SELECT 'no-op ' || n, '{true}' FROM generate_series(1, %s) AS n",
            (CASES,),
        )
        marks = [time.monotonic_ns()]
        for _ in range(BATCHES):
            connection.execute(TIMED_RUN, (ROUNDS,))
            marks.append(time.monotonic_ns())
        whole_ms = [(end - start) / 1e6 / (CASES * ROUNDS) for start, end in pairwise(marks)]
        command_ms = [
            float(row["ms"])
            for row in store.table(
                "SELECT avg(duration) * 1000 AS ms FROM lab.vtestresults"
                " WHERE testcase ~ '^no-op ' GROUP BY run_id ORDER BY run_id"
            )
        ]
    return whole_ms, command_ms


def main() -> None:
    """Measure and print."""
    clear_libpq_environment()
    lab = Lab(buildable_installation(), lab_home(), server_user())
    with lab.database() as store:
        whole_ms, command_ms = measure(store)
    added = [whole - command for whole, command in zip(whole_ms, command_ms, strict=True)]
    sys.stdout.write(
        f"{BATCHES} batches of {CASES * ROUNDS} executions of `true`,"
        f" PostgreSQL {lab.installation.version}; medians of the batches\n"
        f"whole execution: {statistics.median(whole_ms):.2f} ms\n"
        f"command alone:   {statistics.median(command_ms):.2f} ms\n"
        f"added by lab:    {statistics.median(added):.2f} ms"
        f" ({min(added):.2f} to {max(added):.2f})\n"
    )


if __name__ == "__main__":
    main()
