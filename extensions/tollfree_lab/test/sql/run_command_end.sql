--
-- run_command_end: nothing of a command is left, however it ends
--

-- The processes whose command line has the marker.  One that ends while it is
-- looked at is not there.
CREATE FUNCTION count_processes(marker text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	process text;
	found int := 0;
BEGIN
	FOR process IN SELECT pid FROM pg_ls_dir('/proc') AS pid WHERE pid ~ '^\d+$' LOOP
		BEGIN
			IF position(marker::bytea IN pg_read_binary_file(
				'/proc/' || process || '/cmdline', 0, 10000)) > 0 THEN
				found := found + 1;
			END IF;
		EXCEPTION WHEN io_error OR undefined_file OR system_error OR internal_error THEN
			NULL;
		END;
	END LOOP;
	RETURN found;
END
$$;

-- The same once they have ended, which is waited for at most ten seconds: what
-- the kernel kills along with a runner ends a moment after it
CREATE FUNCTION count_after_end(marker text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
	until timestamptz := clock_timestamp() + interval '10 s';
BEGIN
	WHILE count_processes(marker) > 0 AND clock_timestamp() < until LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
	RETURN count_processes(marker);
END
$$;

-- Pipes and sockets that this backend has open.  Files do not count, for those
-- of relations are opened and closed at any time; they alone are on a mounted
-- file system.
CREATE VIEW connections AS
SELECT fd
FROM pg_ls_dir('/proc/self/fdinfo') AS fd,
	substring(pg_read_file('/proc/self/fdinfo/' || fd, 0, 1000, true)
			  FROM 'mnt_id:\s+(\d+)') AS mount_id
WHERE mount_id NOT IN
	(SELECT split_part(line, ' ', 1)
	 FROM string_to_table(pg_read_file('/proc/self/mountinfo', 0, 1000000), E'\n') AS line);

-- What this backend has: its children, zombies included, and its descriptors
CREATE VIEW own AS
SELECT pg_read_file('/proc/thread-self/children', 0, 1000) AS children,
	(SELECT count(*) FROM connections) AS descriptors;

-- A duration of sleep that no other process has, nor one that begins with it
SELECT format('86400.%ss', pg_backend_pid()) AS nap \gset
SELECT descriptors FROM own \gset

-- The counting counts
SELECT count_processes('checkpointer') > 0 AS some, count_processes(:'nap') AS none,
	:descriptors > 0 AS connected;

-- Background children that hold the pipes end with the command, whether they
-- stay in its group, leave it or ignore signals
SELECT exit_status, timed_out, stdout
FROM lab.run_command(ARRAY['/bin/sh', '-c',
	'trap "" TERM HUP; sleep $1 & setsid sleep $1 & (setsid sh -c "sleep $1; :" &) ; echo on', 'sh', :'nap'],
	'{PATH=/bin}');
SELECT count_processes(:'nap'), children FROM own;

-- The time limit: first SIGTERM, then SIGKILL
SELECT exit_status, term_signal, timed_out, wall_ns >= 200000000 AS lasted
FROM lab.run_command(ARRAY['/bin/sleep', :'nap'], time_limit => '200 ms');
SELECT exit_status, term_signal, timed_out
FROM lab.run_command(ARRAY['/bin/sh', '-c', 'trap "exit 5" TERM; sleep $1 & wait', 'sh', :'nap'],
	'{PATH=/bin}', '200 ms');
SELECT exit_status, term_signal, timed_out
FROM lab.run_command(ARRAY['/bin/sh', '-c', 'trap "" TERM; sleep $1; :', 'sh', :'nap'],
	'{PATH=/bin}', '200 ms');
-- A stopped process ends as well
SELECT exit_status, term_signal, timed_out
FROM lab.run_command('{/bin/sh,-c,kill -STOP $$}', time_limit => '200 ms');
-- Output up to then is kept
SELECT timed_out, stdout, stderr
FROM lab.run_command(ARRAY['/bin/sh', '-c', 'echo out; echo err >&2; sleep $1; :', 'sh', :'nap'],
	'{PATH=/bin}', '500 ms');
-- even while more comes than can be kept
SELECT timed_out, length(stdout), stdout_truncated
FROM lab.run_command('{/bin/yes}', time_limit => '500 ms', stdout_limit => 1000);
SELECT count_processes(:'nap'), children FROM own;

-- Cancel
SET statement_timeout = '500 ms';
SELECT lab.run_command(ARRAY['/bin/sh', '-c',
	'trap "" TERM INT; sleep $1 & setsid sleep $1 & (sh -c "sleep $1; :" &); wait', 'sh', :'nap'],
	'{PATH=/bin}');
SELECT lab.run_command('{/bin/yes}');
RESET statement_timeout;
SELECT count_processes(:'nap'), children, descriptors - :descriptors AS leaked FROM own;

-- A cancel that is caught
SET statement_timeout = '300 ms';
DO $$
DECLARE
	answer text;
BEGIN
	BEGIN
		PERFORM lab.run_command(ARRAY['/bin/sleep', format('86400.%ss', pg_backend_pid())]);
	EXCEPTION WHEN query_canceled THEN
		RAISE NOTICE 'canceled';
	END;
	SELECT stdout INTO answer FROM lab.run_command('{/bin/echo,-n,and on}');
	RAISE NOTICE '%', answer;
END
$$;
RESET statement_timeout;
SELECT count_processes(:'nap'), children, descriptors - :descriptors AS leaked FROM own;

-- The runner is killed, and so is the command
SELECT lab.run_command(ARRAY['/bin/sh', '-c', 'kill -KILL $PPID; exec sleep $1', 'sh', :'nap'],
	'{PATH=/bin}');
-- The runner stops answering
SET statement_timeout = '300 ms';
SELECT lab.run_command(ARRAY['/bin/sh', '-c', 'kill -STOP $PPID; exec sleep $1', 'sh', :'nap'],
	'{PATH=/bin}');
RESET statement_timeout;
SELECT count_after_end(:'nap'), children, descriptors - :descriptors AS leaked FROM own;

-- Many runs
SELECT count(*), sum(exit_status)
FROM generate_series(1, 200) AS n,
	LATERAL lab.run_command(ARRAY['/bin/true', n::text]);
SELECT children, descriptors - :descriptors AS leaked FROM own;

DROP VIEW own, connections;
DROP FUNCTION count_after_end, count_processes;
