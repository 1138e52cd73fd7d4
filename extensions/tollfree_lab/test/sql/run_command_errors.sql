--
-- run_command_errors: what is refused, and what cannot be executed
--

-- Arguments
SELECT lab.run_command(NULL);
SELECT lab.run_command('{}');
SELECT lab.run_command('{""}');
SELECT lab.run_command('{/bin/true,NULL}');
SELECT lab.run_command('{{/bin/true},{x}}');
SELECT lab.run_command('{/bin/true}', NULL);
SELECT lab.run_command('{/bin/true}', '{A=1,NULL}');
SELECT lab.run_command('{/bin/true}', '{{A=1},{B=2}}');
SELECT lab.run_command('{/bin/true}', '{A=1,B}');
SELECT lab.run_command('{/bin/true}', '{=secret}');
SELECT lab.run_command('{/bin/true}', '{A=1,AB=2,A=3}');
SELECT lab.run_command('{/bin/true}', time_limit => NULL);
SELECT lab.run_command('{/bin/true}', time_limit => '0');
SELECT lab.run_command('{/bin/true}', time_limit => '-1 s');
SELECT lab.run_command('{/bin/true}', time_limit => '1 month');
SELECT lab.run_command('{/bin/true}', time_limit => '100000000 years');
SELECT lab.run_command('{/bin/true}', stdout_limit => NULL);
SELECT lab.run_command('{/bin/true}', stdout_limit => 0);
SELECT lab.run_command('{/bin/true}', stdout_limit => 2147483647);
SELECT lab.run_command('{/bin/true}', stderr_tail => NULL);
SELECT lab.run_command('{/bin/true}', stderr_tail => -1);

-- The largest that are allowed
SELECT exit_status FROM lab.run_command('{/bin/true}', '{A=1,AB=2}', '24 days', 268435456, 268435456);

-- Commands
SELECT lab.run_command('{/nowhere/none}');
SELECT lab.run_command('{none}');
SELECT lab.run_command('{none}', '{PATH=/bin:/nowhere}');
SELECT lab.run_command('{/etc/passwd}');
SELECT lab.run_command('{passwd}', '{PATH=/nowhere:/etc:/nowhere}');
SELECT lab.run_command('{/}');
\set VERBOSITY sqlstate
SELECT lab.run_command(ARRAY['/bin/true', repeat('x', 1000000)]);
SELECT lab.run_command('{/nowhere/none}');
SELECT lab.run_command('{/etc/passwd}');

-- A script without an interpreter is not handed to a shell
SELECT trim(E'\n' FROM stdout) AS script
FROM lab.run_command(ARRAY['/bin/sh', '-c',
	'script=$(mktemp) && echo exit 7 > $script && chmod +x $script && echo $script'],
	'{PATH=/bin}') \gset
SELECT lab.run_command(ARRAY[:'script']);
\set VERBOSITY default
SELECT exit_status FROM lab.run_command(ARRAY['/bin/rm', :'script']);

-- A failed start leaves no process and no descriptor
SELECT count(*) AS before FROM pg_ls_dir('/proc/self/fd') \gset
DO $$
BEGIN
	FOR i IN 1 .. 50 LOOP
		BEGIN
			PERFORM lab.run_command('{/nowhere/none}');
			RAISE 'it ran';
		EXCEPTION WHEN undefined_file THEN
			NULL;
		END;
	END LOOP;
END
$$;
-- Each, for files of relations are opened and closed at any time
SELECT round((count(*) - :before) / 50.0) AS leaked FROM pg_ls_dir('/proc/self/fd');
SELECT pg_read_file('/proc/thread-self/children', 0, 1000) AS children;
