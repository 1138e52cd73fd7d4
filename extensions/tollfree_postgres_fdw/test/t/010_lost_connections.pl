# What is said of a connection that the remote server has ended: as by postgres_fdw.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(
	allows_streaming => 1,
	extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my ($host, $port) = ($node->host, $node->port);

$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', <<'SQL');
CREATE TABLE goods (id int PRIMARY KEY, v text);
INSERT INTO goods SELECT i, 'v' || i FROM generate_series(1, 5000) i;
ANALYZE goods;
CREATE TABLE notes (id int);
CREATE FUNCTION die() RETURNS bool LANGUAGE plpgsql
AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN true; END $$;
CREATE FUNCTION die_of_row() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN IF NEW.id = 3000 THEN PERFORM public.die(); END IF; RETURN NEW; END $$;
CREATE TABLE deadly (id int, v text);
CREATE TRIGGER die BEFORE INSERT ON deadly FOR EACH ROW EXECUTE FUNCTION die_of_row();
CREATE VIEW dying AS SELECT id, v, CASE WHEN id = 3000 THEN die() END AS d FROM goods;
CREATE TABLE deferred (id int);
CREATE FUNCTION die_late() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN PERFORM public.die(); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER die AFTER INSERT ON deferred INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION die_late();
SQL

# A database for each wrapper, with the same tables; one more server, for an Append.
my @wrappers = ('postgres_fdw', 'tollfree_postgres_fdw');
my $options = "host '$host', port '$port', dbname 'far'";

sub make_database
{
	my ($wrapper) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE by_$wrapper");
	$node->safe_psql("by_$wrapper", <<"SQL");
CREATE EXTENSION $wrapper CASCADE;
CREATE SERVER far FOREIGN DATA WRAPPER $wrapper OPTIONS ($options, async_capable 'true');
CREATE SERVER further FOREIGN DATA WRAPPER $wrapper OPTIONS ($options, async_capable 'true');
CREATE SERVER impatient FOREIGN DATA WRAPPER $wrapper
	OPTIONS ($options, options '-c idle_in_transaction_session_timeout=600ms');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE USER MAPPING FOR CURRENT_USER SERVER further;
CREATE USER MAPPING FOR CURRENT_USER SERVER impatient;
CREATE FOREIGN TABLE goods (id int, v text) SERVER far;
CREATE FOREIGN TABLE goods_soon (id int, v text) SERVER impatient OPTIONS (table_name 'goods');
CREATE FOREIGN TABLE notes (id int) SERVER far;
CREATE FOREIGN TABLE notes_soon (id int) SERVER impatient OPTIONS (table_name 'notes');
CREATE FOREIGN TABLE deadly (id int, v text) SERVER far;
CREATE FOREIGN TABLE deadly_batches (id int, v text) SERVER far OPTIONS (table_name 'deadly', batch_size '100');
CREATE FOREIGN TABLE dying (id int, v text, d bool) SERVER far;
CREATE FOREIGN TABLE deferred (id int) SERVER far;
CREATE TABLE parts (id int, v text, d bool, part int) PARTITION BY LIST (part);
CREATE FOREIGN TABLE parts_1 PARTITION OF parts (part DEFAULT 1) FOR VALUES IN (1) SERVER far OPTIONS (table_name 'parts');
CREATE FOREIGN TABLE parts_2 PARTITION OF parts (part DEFAULT 2) FOR VALUES IN (2) SERVER further OPTIONS (table_name 'parts');
ANALYZE goods;
SQL
	return;
}

$node->safe_psql('far', 'CREATE VIEW parts AS SELECT *, 1 AS part FROM dying');
make_database($_) foreach @wrappers;

# Ends all remote sessions.
my $end = <<'SQL';
SELECT count(pg_terminate_backend(pid, 20000)) FROM pg_stat_activity WHERE datname = 'far';
SQL

# The errors of a script through a wrapper.  What either asked differs: DECLARE
# and FETCH, for one.
sub errors
{
	my ($wrapper, $script) = @_;
	my ($stdout, $stderr);

	$node->psql(
		"by_$wrapper", "\\set VERBOSITY verbose\n$script",
		on_error_stop => 0, stdout => \$stdout, stderr => \$stderr);
	$stderr =~ s/^psql:<stdin>:\d+: //mg;
	$stderr =~ s/^LOCATION:.*\n?//mg;
	# what libpq adds if it is asked to read once more
	$stderr =~ s/^invalid socket\n//mg;
	# with their lines of context
	$stderr =~ s/^WARNING:.*?(?=^(?:ERROR|WARNING|NOTICE):|\z)//msg;
	return $stderr;
}

# Tests that both wrappers give the same errors, with this reason, and that the
# context has a command.  Without a reason no error is expected.
sub compare
{
	my ($name, $script, $reason) = @_;
	my ($stock, $ours) = map { errors($_, $script) } @wrappers;
	my @commands = $ours =~ /remote SQL command: (\w+)/g;

	if (!defined $reason)
	{
		is($stock, '', "$name: no error of postgres_fdw");
		is($ours, '', "$name: no error");
		return;
	}
	like($stock, qr/^ERROR:  08006: FATAL:  $reason/m, "$name: postgres_fdw says why");
	s/^(?:CONTEXT:  )?remote SQL command:.*?(?=^[A-Z]+:|\z)//msg foreach $stock, $ours;
	is($ours, $stock, "$name: as postgres_fdw");
	unlike(join(' ', @commands), qr/tollfree/, "$name: the command is shown");
	ok(@commands > 0, "$name: and there is one");
	return;
}

my $ended = 'terminating connection due to administrator command';

compare('between transactions', "SELECT count(*) FROM goods; $end SELECT count(*) FROM goods;");
compare('SELECT', "BEGIN; SELECT FROM goods WHERE id = 1; $end SELECT v FROM goods WHERE id = 1; COMMIT;", $ended);
compare('SELECT that ends it', 'SELECT count(d) FROM dying;', $ended);
compare('rows that end it', 'SELECT * FROM dying;', $ended);
compare('SELECT in a savepoint',
	"BEGIN; SELECT FROM goods WHERE id = 1; $end SAVEPOINT s; SELECT v FROM goods WHERE id = 1; COMMIT;", $ended);
compare('SELECT after one in a savepoint',
	"BEGIN; SAVEPOINT s; SELECT FROM goods WHERE id = 1; RELEASE s; $end SELECT v FROM goods WHERE id = 1; COMMIT;", $ended);
compare('UPDATE', "BEGIN; SELECT FROM goods WHERE id = 1; $end UPDATE goods SET v = 'x' WHERE id = 1; COMMIT;", $ended);
compare('UPDATE of rows',
	"BEGIN; UPDATE goods SET v = v || left(random()::text, 0) WHERE id = 1; $end
	 UPDATE goods SET v = v || left(random()::text, 0) WHERE id = 1; COMMIT;", $ended);
compare('INSERT', "BEGIN; INSERT INTO notes VALUES (1); $end INSERT INTO notes VALUES (2); COMMIT;", $ended);
compare('INSERT of rows',
	"BEGIN; INSERT INTO notes SELECT generate_series(1, 3); $end INSERT INTO notes SELECT generate_series(1, 3); COMMIT;", $ended);
compare('INSERT that ends it', "INSERT INTO deadly VALUES (3000, 'x');", $ended);
compare('row that ends it', "INSERT INTO deadly SELECT i, repeat('x', 1000) FROM generate_series(1, 6000) i;", $ended);
compare('row of a batch that ends it',
	"INSERT INTO deadly_batches SELECT i, repeat('x', 1000) FROM generate_series(1, 6000) i;", $ended);
compare('COMMIT', "BEGIN; INSERT INTO notes VALUES (1); $end COMMIT;", $ended);
compare('COMMIT of rows that were kept',
	"BEGIN; SELECT FROM goods WHERE id = 1; INSERT INTO notes SELECT generate_series(1, 3); $end COMMIT;", $ended);
compare('COMMIT that ends it', 'INSERT INTO deferred VALUES (1);', $ended);
compare('cursor', "BEGIN; DECLARE c CURSOR FOR SELECT d FROM dying; FETCH 1 FROM c; MOVE ALL FROM c; COMMIT;", $ended);
compare('cursor that waits',
	"BEGIN; DECLARE c CURSOR FOR SELECT v FROM goods; SELECT FROM goods WHERE id = 1; $end MOVE ALL FROM c; COMMIT;", $ended);
compare('asynchronous scans', 'SELECT count(d) FROM parts;', $ended);
compare('asynchronous rows', 'SELECT * FROM parts;', $ended);
compare('join',
	'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
	 SELECT count(d) FROM generate_series(2990, 3010) i JOIN dying ON id = i;', $ended);
compare('exception block', <<"SQL", $ended);
BEGIN; SELECT FROM goods WHERE id = 1;
$end
DO \$\$
BEGIN
	PERFORM v FROM goods WHERE id = 1;
EXCEPTION WHEN connection_failure THEN
	RAISE;
END \$\$;
COMMIT;
SQL
compare('ANALYZE', "BEGIN; SELECT FROM goods WHERE id = 1; $end ANALYZE goods; COMMIT;", $ended);
compare('ANALYZE that ends it', 'ANALYZE dying;', $ended);
compare('TRUNCATE', "BEGIN; SELECT FROM goods WHERE id = 1; $end TRUNCATE notes; COMMIT;", $ended);

my $idle = 'terminating connection due to idle-in-transaction timeout';

compare('SELECT after a pause',
	'BEGIN; SELECT FROM goods_soon WHERE id = 1; SELECT pg_sleep(1.5); SELECT v FROM goods_soon WHERE id = 1; COMMIT;', $idle);
compare('INSERT after a pause',
	'BEGIN; INSERT INTO notes_soon SELECT generate_series(1, 3); SELECT pg_sleep(1.5);
	 INSERT INTO notes_soon SELECT generate_series(1, 3); COMMIT;', $idle);
compare('COMMIT after a pause', 'BEGIN; INSERT INTO notes_soon VALUES (1); SELECT pg_sleep(1.5); COMMIT;', $idle);

# A FATAL with DETAIL and HINT: a standby has to remove rows that somebody may read.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = 0');
$standby->start;
my $standby_port = $standby->port;
$node->safe_psql("by_$_", "ALTER SERVER far OPTIONS (SET port '$standby_port')") foreach @wrappers;
$node->safe_psql('far', 'CREATE TABLE kept (id int); INSERT INTO kept SELECT generate_series(1, 1000)');

my $conflict = <<"SQL";
BEGIN; SELECT count(*) FROM goods;
\\! PGOPTIONS="-c client_min_messages=warning" psql -X -q -d far -c "DROP TABLE IF EXISTS passing; CREATE TABLE passing AS SELECT 1; DROP TABLE passing" -c "UPDATE kept SET id = -id" -c "VACUUM kept"
SELECT pg_sleep(1);
SELECT v FROM goods WHERE id = 1; COMMIT;
SQL
$node->wait_for_catchup($standby);
{
	local $ENV{PGHOST} = $host;
	local $ENV{PGPORT} = $port;
	compare('conflict with recovery', $conflict, 'terminating connection due to conflict with recovery\nDETAIL:.*\nHINT:');
}

$standby->stop;
$node->stop;
done_testing();
