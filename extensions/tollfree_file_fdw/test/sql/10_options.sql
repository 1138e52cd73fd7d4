-- Options: file_fdw's, with its validation, and ours.
\getenv abs_srcdir PG_ABS_SRCDIR
\set plain :abs_srcdir '/data/plain.txt'
CREATE FOREIGN TABLE t (a int) SERVER ours;
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', program 'x');
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', format 'xml');
\set VERBOSITY sqlstate
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', quote '"');
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', force_null 'true');
CREATE FOREIGN TABLE t (a int OPTIONS (force_null 'true')) SERVER ours
	OPTIONS (filename :'plain', format 'text');
SELECT * FROM t;
SELECT * FROM t LIMIT 0;
\set VERBOSITY default
DROP FOREIGN TABLE t;
CREATE SERVER lazy FOREIGN DATA WRAPPER tollfree_file_fdw OPTIONS (lazy 'true');
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', lazy 'perhaps');
CREATE FOREIGN TABLE t (a int OPTIONS (lazy 'true')) SERVER ours OPTIONS (filename :'plain');
CREATE FOREIGN TABLE t (a int) SERVER ours OPTIONS (filename :'plain', lazy 'on');
DROP FOREIGN TABLE t;

-- Who may name a file or a program.
CREATE ROLE regress_tollfree_reader;
GRANT USAGE ON FOREIGN SERVER ours TO regress_tollfree_reader;
GRANT CREATE ON SCHEMA ours TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
\set VERBOSITY sqlstate
CREATE FOREIGN TABLE ours.t (a int) SERVER ours OPTIONS (filename :'plain');
CREATE FOREIGN TABLE ours.t (a int) SERVER ours OPTIONS (program 'echo 1');
\set VERBOSITY default
RESET ROLE;
GRANT pg_read_server_files TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
CREATE FOREIGN TABLE ours.t (a int) SERVER ours OPTIONS (filename :'plain');
\set VERBOSITY sqlstate
ALTER FOREIGN TABLE ours.t OPTIONS (DROP filename, ADD program 'echo 1');
\set VERBOSITY default
RESET ROLE;
DROP FOREIGN TABLE ours.t;
REVOKE ALL ON FOREIGN SERVER ours FROM regress_tollfree_reader;
REVOKE ALL ON SCHEMA ours FROM regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;
