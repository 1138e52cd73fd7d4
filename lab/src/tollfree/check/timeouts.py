"""Which timeouts the remote servers set for the sessions of a wrapper.

They are read through a temporary foreign table on the remote view pg_settings, in a transaction
that is rolled back. That takes the right to make one, so it is done only where that is allowed.
"""

from psycopg import sql

from tollfree.check.inventory import REMOTE_WRAPPERS
from tollfree.check.model import ForeignServer, Timeouts
from tollfree.check.session import Session

SETTINGS = [
    *("statement_timeout", "lock_timeout", "transaction_timeout"),
    *("idle_in_transaction_session_timeout", "idle_session_timeout"),
]
NOT_ALLOWED = "it takes a temporary foreign table: allow it with --execute"
TABLE = sql.SQL(
    "CREATE FOREIGN TABLE pg_temp.tollfree_check_settings (name text, setting text)"
    " SERVER {} OPTIONS (schema_name 'pg_catalog', table_name 'pg_settings')"
)


def timeouts(
    session: Session, servers: tuple[ForeignServer, ...], *, is_allowed: bool
) -> tuple[Timeouts, ...]:
    """Return the timeouts of each remote server that can be queried."""
    remote = [server for server in servers if server.wrapper in REMOTE_WRAPPERS]
    if remote and not is_allowed:
        session.not_known("the remote timeouts", NOT_ALLOWED)
        return ()
    found = []
    for server in remote:
        what = f"the timeouts of server {server.name}"
        if not server.mapped:
            session.not_known(what, "it has no user mapping for this user")
        else:
            with session.trying(what):
                found.append(_timeouts(session, server))
    return tuple(found)


def _timeouts(session: Session, server: ForeignServer) -> Timeouts:
    session.run(TABLE.format(sql.Identifier(server.name)))
    session.freeze()
    rows = session.run(
        "SELECT name, setting::float8 AS ms FROM pg_temp.tollfree_check_settings"
        " WHERE name = ANY (%s) ORDER BY name",
        SETTINGS,
    )
    return Timeouts(server.name, {row["name"]: row["ms"] for row in rows})
