--
-- run_command: how a command is started, and what its end looks like
--

-- Who may call it, and how the planner sees it
SELECT provolatile, proparallel, proisstrict, prosecdef, proacl IS NULL AS acl_is_default
FROM pg_proc WHERE oid = 'lab.run_command'::regproc;

CREATE ROLE regress_tollfree_user;
GRANT USAGE ON SCHEMA lab TO regress_tollfree_user;
SET ROLE regress_tollfree_user;
SELECT lab.run_command('{/bin/true}');
RESET ROLE;
GRANT EXECUTE ON FUNCTION lab.run_command TO regress_tollfree_user;
SET ROLE regress_tollfree_user;
SELECT lab.run_command('{/bin/true}');
RESET ROLE;
DROP OWNED BY regress_tollfree_user;
DROP ROLE regress_tollfree_user;

-- Exit status and signal exclude each other
SELECT exit_status, term_signal, timed_out, stdout, stdout_truncated, stderr
FROM lab.run_command('{/bin/true}');
SELECT exit_status, term_signal, timed_out
FROM lab.run_command('{/bin/sh,-c,exit 255}');
SELECT exit_status, term_signal, timed_out
FROM lab.run_command('{/bin/sh,-c,kill -USR1 $$}');

-- Times and memory: a lower bound is all that a test can know.  The memory
-- must be the command's own: this backend is larger than /bin/true.
SELECT wall_ns >= 100000000 AS wall_ns, user_us >= 0 AS user_us,
	system_us >= 0 AS system_us
FROM lab.run_command('{/bin/sleep,0.1}');
SELECT user_us > 0 AS user_us
FROM lab.run_command('{/bin/sh,-c,i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done}');
CREATE FUNCTION own_peak_kb() RETURNS int8
LANGUAGE sql AS $$
	SELECT substring(pg_read_file('/proc/self/status', 0, 10000)
					 FROM 'VmHWM:\s+(\d+) kB')::int8
$$;
SELECT peak_kb BETWEEN 1 AND own_peak_kb() / 2 AS peak_kb
FROM lab.run_command('{/bin/true}');

-- Arguments arrive as they are: no shell, no splitting, no globbing
SELECT stdout FROM lab.run_command(ARRAY['/usr/bin/printf', '[%s]\n',
	'a b', '*', '$HOME', '', '"', '-c', 'é']);

-- The environment is the one given, and the runner is not touched by it:
-- were it to load the library too, the complaint would come twice
SELECT stdout FROM lab.run_command('{/usr/bin/env}');
SELECT stdout FROM lab.run_command('{/usr/bin/env}',
	ARRAY['B=2', 'A=', 'C=x=y z', '+D=plus', 'LD_LIBRARY_PATH=/nowhere']);
SELECT exit_status, regexp_count(stderr, 'LD_PRELOAD')
FROM lab.run_command('{/bin/true}', '{LD_PRELOAD=/nowhere/none.so}');

-- PATH is the one given
SELECT exit_status FROM lab.run_command('{true}', '{PATH=/nowhere:/etc/passwd:/bin}');
SELECT exit_status FROM lab.run_command('{bin/true}');
SELECT stdout FROM lab.run_command('{bin/echo,from the root}', '{PATH=}');

-- Standard input is empty, nothing else is open; 3 is the folder ls reads
SELECT exit_status, stdout = '' AS empty FROM lab.run_command('{/bin/cat}');
SELECT stdout FROM lab.run_command('{/bin/ls,/proc/self/fd}');
SELECT stdout FROM lab.run_command('{/bin/sh,-c,pwd; umask}');

-- Signals: none blocked, none ignored but 32 and 33, which are the C library's
SELECT name, ('x' || bits)::bit(64) & ~x'0000000180000000'::bit(64) = 0::bit(64) AS none
FROM lab.run_command('{/bin/cat,/proc/self/status}'),
	regexp_matches(stdout, '(SigBlk|SigIgn):\s+(\w+)', 'g') AS match,
	LATERAL (VALUES (match[1], match[2])) AS signals (name, bits);

-- A process group of its own
SELECT split_part(stdout, ' ', 1) = split_part(stdout, ' ', 5) AS leads_its_group,
	split_part(stdout, ' ', 6)::int <> pg_backend_pid() AS in_another_session
FROM lab.run_command('{/bin/cat,/proc/self/stat}');

DROP FUNCTION own_peak_kb;
