# What pg_stat_activity shows of a session that waits for a remote server.
#
# Before PostgreSQL 17 all extensions have one wait event.

use strict;
use warnings;

use IO::Socket::INET;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The kernel accepts what nobody does.
my $silent = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1')
  or die "cannot listen: $!";
my $silent_port = $silent->sockport;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE SERVER here FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE SERVER silent FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '127.0.0.1', port '$silent_port');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE USER MAPPING FOR CURRENT_USER SERVER silent;

CREATE FOREIGN TABLE far_silent (id int) SERVER silent OPTIONS (table_name 'goods');
CREATE VIEW slow AS SELECT 1 AS id FROM pg_sleep(600);
CREATE FOREIGN TABLE far_slow (id int) SERVER here OPTIONS (table_name 'slow');

-- Its rows are checked, slowly, when the transaction is committed.
CREATE TABLE goods (id int);
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql
AS \$\$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END \$\$;
CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON goods INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION dawdle();
CREATE FOREIGN TABLE far_goods (id int) SERVER here OPTIONS (table_name 'goods');
SQL

# What shows that a session waits so.
sub shown
{
	my ($event) = @_;

	return 'Extension|' . ($node->pg_version < 17 ? 'Extension' : $event);
}

# Has a statement executed by a session of its own; one at a time.
my $stderr;

sub start_session
{
	my ($sql) = @_;

	$stderr = '';
	return IPC::Run::start(
		[
			'psql', '--no-psqlrc', '--quiet', '--dbname',
			$node->connstr('postgres') . ' application_name=watched', '--command', $sql
		],
		'>', '/dev/null', '2>', \$stderr);
}

# Tests that the session comes to wait so.
sub comes_to
{
	my ($event, $name) = @_;

	ok( $node->poll_query_until(
			'postgres', <<'SQL', shown($event)), $name);
SELECT wait_event_type || '|' || wait_event FROM pg_stat_activity
WHERE application_name = 'watched'
SQL
	return;
}

# Cancels what the sessions of a name do.
sub cancel
{
	my ($application) = @_;

	$node->safe_psql('postgres',
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '$application'");
	return;
}

my $session = start_session('SELECT * FROM far_silent');
comes_to('TollfreeConnect', 'while connecting');
cancel('watched');
$session->finish;
like($stderr, qr/canceling statement due to user request/, 'connecting was cancelled');

$session = start_session('SELECT * FROM far_slow');
comes_to('TollfreeGetResult', 'while a result is awaited');
$node->poll_query_until('postgres', <<'SQL', 'PgSleep');
SELECT wait_event FROM pg_stat_activity WHERE application_name = 'tollfree_postgres_fdw'
SQL

# The remote session hears of the cancellation only when it goes on.
my $remote = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE application_name = 'tollfree_postgres_fdw'");
kill('STOP', $remote);
cancel('watched');
comes_to('TollfreeCleanup', 'while it is cleaned up after an error');
kill('CONT', $remote);
$session->finish;
like($stderr, qr/canceling statement due to user request/, 'the query was cancelled');

$session = start_session('INSERT INTO far_goods VALUES (1)');
comes_to('TollfreeCommit', 'while a COMMIT is awaited');
cancel('tollfree_postgres_fdw');
$session->finish;
like($stderr, qr/remote SQL command: COMMIT TRANSACTION/, 'the COMMIT was cancelled');

SKIP:
{
	skip 'before 17 there is no pg_wait_events', 1 if $node->pg_version < 17;

	is( $node->safe_psql(
			'postgres', <<'SQL'), 'TollfreeCleanup TollfreeCommit TollfreeConnect TollfreeGetResult', 'pg_wait_events has them');
SELECT string_agg(name, ' ' ORDER BY name) FROM pg_wait_events
WHERE type = 'Extension' AND name LIKE 'Tollfree%'
SQL
}

$node->stop;
done_testing();
