# What sessions leave in the remote server's log when they end: no more than those
# of postgres_fdw.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "log_line_prefix = 'by %a: '\nlog_statement = none");
$node->start;
my ($host, $port) = ($node->host, $node->port);

my $address = "host '$host', port '$port', dbname 'postgres'";
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE goods (id int PRIMARY KEY, v text);
INSERT INTO goods SELECT i, repeat('v', 100) FROM generate_series(1, 20000) i;
CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($address);
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS ($address);
CREATE SERVER ours_awaiting FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS ($address, unawaited_commit 'false');
CREATE SERVER ours_passing FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS ($address, keep_connections 'off');
CREATE USER MAPPING FOR CURRENT_USER SERVER stock;
CREATE USER MAPPING FOR CURRENT_USER SERVER ours;
CREATE USER MAPPING FOR CURRENT_USER SERVER ours_awaiting;
CREATE USER MAPPING FOR CURRENT_USER SERVER ours_passing;
CREATE FOREIGN TABLE goods_stock (id int, v text) SERVER stock OPTIONS (table_name 'goods');
CREATE FOREIGN TABLE goods_ours (id int, v text) SERVER ours OPTIONS (table_name 'goods');
CREATE FOREIGN TABLE goods_ours_awaiting (id int, v text) SERVER ours_awaiting OPTIONS (table_name 'goods');
CREATE FOREIGN TABLE goods_ours_passing (id int, v text) SERVER ours_passing OPTIONS (table_name 'goods');
SQL

# The lines that remote sessions log while a script is executed by so many sessions.
sub count_lines
{
	my ($script, $sessions) = @_;
	my $from = -s $node->logfile;

	$node->psql('postgres', $script, on_error_stop => 0) for 1 .. $sessions;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name LIKE '%postgres_fdw'")
	  or die 'remote sessions do not end';
	my $lines = () = slurp_file($node->logfile, $from) =~
	  /^by \w*postgres_fdw: (?:LOG|WARNING|FATAL|PANIC):/mg;
	return $lines;
}

# Tests that such sessions log no more than one line, by any server.  A table's
# name is TABLE, a server's PLACE.
sub check
{
	my ($name, $script, $sessions) = @_;

	foreach my $server ('stock', 'ours', 'ours_awaiting', 'ours_passing')
	{
		my $function = $server eq 'stock' ? 'postgres_fdw_disconnect' : 'tollfree_postgres_fdw_disconnect';
		my $own = $script =~ s/TABLE/goods_$server/gr =~ s/PLACE/$server/gr =~ s/DISCONNECT/$function/gr;

		cmp_ok(count_lines($own, $sessions), '<=', 1, "$name: $server");
	}
	return;
}

check('one lookup', 'SELECT v FROM TABLE WHERE id = 7;', 50);
check('several lookups', 'SELECT v FROM TABLE WHERE id = 7;' x 4, 10);
check('a transaction', 'BEGIN; SELECT v FROM TABLE WHERE id = 7; COMMIT;', 10);
check('a write', 'UPDATE TABLE SET v = v WHERE id = 7;', 10);
check('an open transaction', 'BEGIN; SELECT v FROM TABLE WHERE id = 7;', 10);
check('an open cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT * FROM TABLE; FETCH 1 FROM c;', 10);
check('an error', 'SELECT 1 / (id - id) FROM TABLE WHERE id < 10;', 10);
check('a remote error', 'INSERT INTO TABLE VALUES (1);', 10);
check('DISCARD ALL', 'SELECT v FROM TABLE WHERE id = 7; DISCARD ALL;', 10);
check('disconnecting', "SELECT v FROM TABLE WHERE id = 7; SELECT DISCONNECT('PLACE');", 10);
check('an altered server', "SELECT v FROM TABLE WHERE id = 7; ALTER SERVER PLACE OPTIONS (SET port '$port');", 10);

# A remote server that does not answer delays an exit by no more than a moment.  The
# first COMMIT of a connection is waited for, the second is not.
my $pids = $node->safe_psql('postgres', <<'SQL');
SELECT count(*) > 0 AS read FROM goods_ours WHERE id = 7 \gset
BEGIN;
SELECT count(*) > 0 AS read FROM goods_ours WHERE id = 7 \gset
SELECT remote_backend_pid FROM tollfree_postgres_fdw_get_connections() \gset
\setenv REMOTE_PID :remote_backend_pid
\! kill -s STOP $REMOTE_PID
COMMIT;
SELECT pg_backend_pid(), :remote_backend_pid;
SQL
my ($local, $remote) = split /\|/, $pids;
my $tries = 10 * $PostgreSQL::Test::Utils::timeout_default;
select(undef, undef, undef, 0.1) while kill(0, $local) && --$tries > 0;
ok(!kill(0, $local), 'a backend ends although a remote server does not answer');
kill('CONT', $remote);

$node->stop;
done_testing();
