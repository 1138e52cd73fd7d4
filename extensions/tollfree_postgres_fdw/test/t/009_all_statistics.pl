# What the sessions of all backends have done: with the library preloaded on every
# major, and without that where a library can have shared memory all the same.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

my ($host, $port) = ($node->host, $node->port);
my $user = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', <<"END");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE goods (id int PRIMARY KEY);
INSERT INTO goods SELECT generate_series(1, 10);
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER ours OPTIONS (password_required 'false', user '$user');
CREATE FOREIGN TABLE far_goods (id int) SERVER ours OPTIONS (table_name 'goods');
GRANT SELECT ON far_goods TO PUBLIC;
END
my $major = $node->safe_psql('postgres', 'SHOW server_version_num') / 10000;

# A query of this server; its result.
sub ask
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query);
}

my $far_row = 'SELECT id FROM far_goods WHERE id = 1';
my $figures = q{SELECT server_name, user_name, connects, rows, scope FROM pg_stat_tollfree_postgres_fdw};
my $reset = 'SELECT tollfree_postgres_fdw_reset_statistics()';

# Two backends, of which one has ended and one goes on.
sub test_two
{
	my ($how) = @_;
	my $open = $node->background_psql('postgres');

	ask($reset);
	$open->query_safe($far_row) for 1 .. 3;
	ask($far_row);
	is(ask($figures), 'ours|public|2|4|server', "$how: two backends");
	is($open->query_safe($figures), 'ours|public|2|4|server', "$how: as one of them sees them");
	ask($reset);
	is(ask($figures), '', "$how: none after a reset");
	$open->query_safe($far_row);
	is(ask($figures), 'ours|public|0|1|server', "$how: a session goes on after a reset");
	$open->quit;
}

# Bytes are counted over TCP, also of a connection that is still open.
sub test_bytes
{
	my ($how) = @_;

	ask($reset);
	ask("ALTER SERVER ours OPTIONS (SET host '127.0.0.1')");
	ask("$far_row; $far_row");
	is(ask('SELECT bytes_received > 200, bytes_sent > 200, bytes_received < 10000 FROM pg_stat_tollfree_postgres_fdw'),
		't|t|t', "$how: bytes over TCP");
	ask("ALTER SERVER ours OPTIONS (SET host '$host')");
}

# Many sessions at the same time lose no count.
sub test_parallel
{
	my ($how) = @_;

	ask($reset);
	$node->pgbench(
		'--no-vacuum --client=8 --jobs=4 --transactions=200', 0, [qr{processed: 1600/1600}], [qr{^$}],
		"$how: parallel sessions",
		{ "far_row_$how" => $far_row });
	is(ask('SELECT connects, rows, round_trips FROM pg_stat_tollfree_postgres_fdw'),
		'8|1600|' . (1600 + 8), "$how: each of their transactions");
}

# The only row of a backend that counts for itself.
sub test_alone
{
	is(ask("$far_row; $figures"), "1\nours|public|1|1|session", 'a session of its own');
	is(ask($figures), '', 'another one knows nothing of it');
	is(ask("$far_row; $reset; $figures"), "1\n", 'a reset of it');
}

if ($major >= 17)
{
	test_two('segment');
	test_parallel('segment');

	# No session fails if there is no room for the segment.
	my $folder = $node->data_dir . '/pg_dynshmem';
	$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = mmap');
	$node->restart;
	chmod(0500, $folder) or die "could not chmod $folder: $!";
	my $use = "BEGIN; SAVEPOINT a; $far_row; ROLLBACK TO a; $far_row; COMMIT; $figures";
	is(ask($use), "1\n1\nours|public|1|2|session", 'a session without a segment');
	like(slurp_file($node->logfile), qr/LOG:  tollfree_postgres_fdw counts for this session only/, 'that is logged');
	chmod(0700, $folder);
	is(ask($use), "1\n1\nours|public|1|2|server", 'the next one has it, whatever is rolled back');
	$node->append_conf('postgresql.conf', 'dynamic_shared_memory_type = posix');
}
else
{
	test_alone();
}

$node->append_conf('postgresql.conf', <<'END');
shared_preload_libraries = 'tollfree_postgres_fdw'
listen_addresses = '127.0.0.1'
END
$node->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
$node->restart;
test_two('preloaded');
test_bytes('preloaded');
test_parallel('preloaded');

# More users than entries: those without one are summed, and the others' counts are right.
ask($reset);
ask("DO \$\$ BEGIN FOR i IN 1..260 LOOP EXECUTE 'CREATE ROLE many_' || i;
	EXECUTE format('CREATE USER MAPPING FOR many_%s SERVER ours
		OPTIONS (password_required ''false'', user %L)', i, current_user); END LOOP; END \$\$");
ask("ALTER SERVER ours OPTIONS (ADD keep_connections 'off')");
ask(join('', map { "SET ROLE many_$_; $far_row;" } 1 .. 260)) for 1 .. 2;
is( ask('SELECT count(*), count(server_name), sum(connects), max(connects) FILTER (WHERE serverid IS NOT NULL),
		sum(rows) FILTER (WHERE serverid IS NULL) FROM pg_stat_tollfree_postgres_fdw'),
	'257|256|520|2|8', 'more users than entries');
is(ask("$reset; $figures"), '', 'a reset makes room');

# Another database's server, without its name.
$node->safe_psql('postgres', 'CREATE DATABASE other');
ask("ALTER SERVER ours OPTIONS (DROP keep_connections)");
ask($far_row);
$node->safe_psql('other', 'CREATE EXTENSION tollfree_postgres_fdw CASCADE');
is( $node->safe_psql('other', 'SELECT datname, server_name, user_name, rows FROM pg_stat_tollfree_postgres_fdw'),
	'postgres||public|1', 'as another database sees it');

# The rows of a database go with it; others stay.
$node->safe_psql('other', <<"END");
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE SERVER again FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR PUBLIC SERVER ours;
CREATE USER MAPPING FOR PUBLIC SERVER again;
CREATE FOREIGN TABLE far_goods (id int) SERVER ours OPTIONS (table_name 'goods');
CREATE FOREIGN TABLE far_goods_again (id int) SERVER again OPTIONS (table_name 'goods');
SELECT (SELECT count(*) FROM far_goods WHERE id = 1) + (SELECT count(*) FROM far_goods_again WHERE id = 1);
END
is(ask('SELECT datname, count(*) FROM pg_stat_tollfree_postgres_fdw GROUP BY 1 ORDER BY 1'),
	"other|2\npostgres|1", 'two databases');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(ask($figures), 'ours|public|1|1|server', 'without the one that is dropped');

# Shared memory is made anew after a crash.
$node->stop('immediate');
$node->start;
is(ask($figures), '', 'none after a crash');
ask($far_row);
is(ask($figures), 'ours|public|1|1|server', 'counted again after a crash');

done_testing();
