--
-- run_command_output: what is kept of a command's output
--

-- Up to the limit, at the limit, beyond it
SELECT stdout, stdout_truncated
FROM lab.run_command('{/usr/bin/printf,12345}', stdout_limit => 6);
SELECT stdout, stdout_truncated
FROM lab.run_command('{/usr/bin/printf,12345}', stdout_limit => 5);
SELECT stdout, stdout_truncated
FROM lab.run_command('{/usr/bin/printf,12345}', stdout_limit => 4);

-- Of standard error the end is kept, wherever the ring stands
SELECT n, stderr
FROM generate_series(4, 11) AS n,
	LATERAL lab.run_command(ARRAY['/bin/sh', '-c',
		'for i in $(seq ' || n || '); do printf $(($i % 10)) >&2; done'],
		'{PATH=/bin}', stderr_tail => 5);
SELECT length(stderr), right(stderr, 7)
FROM lab.run_command('{/bin/sh,-c,seq 1 100000 >&2}', '{PATH=/bin}');
SELECT stderr
FROM lab.run_command('{/bin/sh,-c,seq 1 100000 >&2}', '{PATH=/bin}', stderr_tail => 1);

-- Far more than the pipes hold, on both, at the same time and in turn
SELECT exit_status, length(stdout), stdout_truncated, length(stderr)
FROM lab.run_command(ARRAY['/bin/sh', '-c',
	'yes o | head -c 5000000 & yes e | head -c 5000000 >&2; wait'],
	'{PATH=/bin}');
SELECT exit_status, length(stdout), stdout_truncated, length(stderr)
FROM lab.run_command(ARRAY['/bin/sh', '-c',
	'yes e | head -c 3000000 >&2; yes o | head -c 3000000; yes e | head -c 3000000 >&2'],
	'{PATH=/bin}', stdout_limit => 4000000, stderr_tail => 7000000);

-- The whole of it arrives, in order
SELECT length(stdout), stdout = (SELECT string_agg(n || E'\n', '' ORDER BY n)
								 FROM generate_series(1, 100000) AS n) AS whole
FROM lab.run_command('{/bin/seq,1,100000}');

-- What is no character becomes '?'
SELECT stdout, stderr
FROM lab.run_command(ARRAY['/bin/sh', '-c',
	'printf "a\000b\377c\303d\303\251\200\n"; printf "\200e\302" >&2']);

-- A character that the limit cuts is dropped, at either end
SELECT n, stdout, octet_length(stdout), stdout_truncated
FROM generate_series(1, 8) AS n,
	LATERAL lab.run_command('{/usr/bin/printf,aé€😀z}', stdout_limit => n);
SELECT n, stderr, octet_length(stderr)
FROM generate_series(1, 11) AS n,
	LATERAL lab.run_command('{/bin/sh,-c,printf aé€😀z >&2}', stderr_tail => n);
-- but not one that the command itself left unfinished
SELECT stdout, stdout_truncated
FROM lab.run_command(ARRAY['/usr/bin/printf', 'a\303']);
-- nor one that is wrong and not cut
SELECT stdout, stdout_truncated
FROM lab.run_command(ARRAY['/usr/bin/printf', '\377abc'], stdout_limit => 3);

-- Other encodings have other characters
SELECT current_database() AS utf8_database \gset
CREATE DATABASE regress_tollfree_euc_jp TEMPLATE template0 ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C';
\c regress_tollfree_euc_jp
CREATE EXTENSION tollfree_lab;
SELECT convert_to(stdout, 'EUC_JP') AS stdout
FROM lab.run_command(ARRAY['/usr/bin/printf', 'a\244\242\000\244b']);
SELECT convert_to(stdout, 'EUC_JP') AS stdout
FROM lab.run_command(ARRAY['/usr/bin/printf', 'a\244\242b'], stdout_limit => 2);
CREATE DATABASE regress_tollfree_sql_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
\c regress_tollfree_sql_ascii
CREATE EXTENSION tollfree_lab;
SELECT stdout::bytea, stdout_truncated
FROM lab.run_command(ARRAY['/usr/bin/printf', 'a\244\242\000\377b'], stdout_limit => 5);
\c :utf8_database
DROP DATABASE regress_tollfree_euc_jp;
DROP DATABASE regress_tollfree_sql_ascii;
