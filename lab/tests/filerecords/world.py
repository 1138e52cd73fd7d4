"""A server's database in which drawn tables are made, and a session of the wrapper under test."""

import shutil
from pathlib import Path

from filediff.tables import literal
from oracle.side import Outcome, Side
from psycopg import sql

from filerecords.packing import PACKERS, SUFFIXES, packed
from filerecords.rules import Column, File, Rules, Table
from tollfree.cluster import Cluster

DATABASE = "filerecords"
NOT_BUILT = "0A000"
"""The SQLSTATE of a compression that the wrapper was built without."""
OBJECTS = """
CREATE EXTENSION {wrapper} CASCADE;
CREATE SERVER files FOREIGN DATA WRAPPER {wrapper};
CREATE FUNCTION converted(type text, input text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    output text;
BEGIN
    EXECUTE format('SELECT format(''%%s'', %L::%s)', input, type) INTO output;
    RETURN ARRAY['', output];
EXCEPTION WHEN others THEN
    RETURN ARRAY[SQLSTATE, ''];
END
$$;
"""


class RecordWorld:
    """The database, the session and the folder of the files. Owns two connections until `close`."""

    def __init__(self, cluster: Cluster, wrapper: str, folder: Path) -> None:
        """Make the database in a running server, and the folder."""
        self.wrapper = wrapper
        self.folder = folder
        self.major = cluster.stage.installation.major
        cluster.user.make_folder(folder)
        cluster.make_database(DATABASE)
        self._asked = cluster.connect(DATABASE)
        self._asked.execute(sql.SQL(OBJECTS).format(wrapper=sql.Identifier(wrapper)))
        self._conninfo = cluster.conninfo(DATABASE)
        self._side = self._connect()
        self._converted: dict[tuple[str, str], tuple[str, str]] = {}
        self.codecs = tuple(kind for kind in PACKERS if self._can_read(kind))

    def convert(self, type_name: str, text: str) -> tuple[str, str]:
        """Return the SQLSTATE with which a type refuses a text, or an empty string; and the value
        as it is sent to a client."""
        key = type_name, text
        if key not in self._converted:
            row = self._asked.execute("SELECT converted(%s, %s)", key).fetchone()
            assert row is not None
            assert isinstance(row[0], list)
            sqlstate, value = row[0]
            self._converted[key] = sqlstate, value
        return self._converted[key]

    def make(self, table: Table, decoys: tuple[File, ...] = ()) -> Outcome:
        """Write a table's files and others, and make the table `t` in place of the last one."""
        for old in self.folder.iterdir():
            shutil.rmtree(old)
        for file in (*table.files, *decoys):
            self._write(file)
        return self.ask(f"DROP FOREIGN TABLE IF EXISTS t; {table.create(str(self.folder))}")

    def ask(self, statements: str) -> Outcome:
        """Execute statements with the server's settings at the beginning."""
        if not self._side.is_usable():
            self._side = self._connect()
        self._side.send(f"RESET ALL; {statements}")
        return self._side.receive()

    def close(self) -> None:
        """End the sessions."""
        self._side.close()
        self._asked.close()

    def _connect(self) -> Side:
        side = Side(self._conninfo, {})
        side.send(f"LOAD {literal(self.wrapper)}")
        side.receive()
        return side

    def _write(self, file: File) -> None:
        path = self.folder / file.name
        for folder in (path.parent.parent, path.parent):
            if folder != self.folder and self.folder in folder.parents:
                folder.mkdir(exist_ok=True)
                folder.chmod(0o755)
        content = packed(file.text, file.compression)
        path.write_bytes(content[:-3] if file.is_cut else content)
        path.chmod(0o644)

    def _can_read(self, kind: str) -> bool:
        """Return whether the wrapper was built with the library of a compression."""
        file = File(f"case/one{SUFFIXES[kind]}", b"1\n", kind)
        outcome = self.make(Table((Column("a", "integer"),), Rules(), (file,)))
        if not outcome.lost and not outcome.results[-1].error:
            outcome = self.ask("SELECT * FROM t")
        error = outcome.results[-1].error
        if error is None and not outcome.lost:
            return True
        if error is not None and dict(error.fields)["SQLSTATE"] == NOT_BUILT:
            return False
        raise RuntimeError(f"a {kind} file cannot be read: {error} {outcome.lost}")
