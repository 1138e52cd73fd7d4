--
-- run_command: one operating system command, and what became of it
--

CREATE FUNCTION run_command(
	argv text[],
	env text[] DEFAULT '{}',
	time_limit interval DEFAULT '10 minutes',
	stdout_limit int DEFAULT 1048576,
	stderr_tail int DEFAULT 8192,
	OUT exit_status int,
	OUT term_signal int,
	OUT timed_out bool,
	OUT wall_ns int8,
	OUT user_us int8,
	OUT system_us int8,
	OUT peak_kb int8,
	OUT stdout text,
	OUT stdout_truncated bool,
	OUT stderr text)
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

REVOKE ALL ON FUNCTION run_command FROM PUBLIC;

COMMENT ON FUNCTION run_command IS
	'run one command in the server and return its exit, times and output';

