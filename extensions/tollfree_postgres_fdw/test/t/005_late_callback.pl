# A connection that another extension's callback uses after the remote transactions
# have been committed.

use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# What this installation says of itself.
sub config
{
	my ($what) = @_;

	chomp(my $value = `pg_config --$what`);
	return $value;
}

my $source = dirname(__FILE__) . '/../modules/late_callback.c';
my $library = PostgreSQL::Test::Utils::tempdir() . '/late_callback.so';
my $compile = join(' ',
	config('cc'), config('cppflags'), '-std=c11 -fPIC -shared',
	"-I'" . config('includedir-server') . "'",
	"-o '$library' '$source'");
is(system($compile), 0, 'the library is built');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

my $host = $node->host;
my $port = $node->port;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE goods (id int);
CREATE SERVER here FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE FOREIGN TABLE far_goods (id int) SERVER here OPTIONS (table_name 'goods');
SQL

# Commits an INSERT, with a query that comes too late, and then another INSERT.
sub commit_with
{
	my ($late) = @_;
	my ($stdout, $stderr);

	$node->safe_psql('postgres', 'TRUNCATE goods');
	$node->psql(
		'postgres', <<"SQL", stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
LOAD '$library';
BEGIN;
INSERT INTO far_goods VALUES (1);
SET LOCAL late_callback.query = '$late';
COMMIT;
SELECT count(*) FROM tollfree_postgres_fdw_get_connections();
INSERT INTO far_goods VALUES (3);
SELECT string_agg(id::text, ' ' ORDER BY id) FROM goods;
SQL
	return ($stdout, $stderr);
}

foreach my $late ('INSERT INTO far_goods VALUES (2)', 'SELECT FROM far_goods')
{
	my ($stdout, $stderr) = commit_with($late);

	is($stdout, "0\n1 3", "$late: the connection is closed, the others' rows are there");
	like($stderr, qr/WARNING:  closing a connection that was used after its remote transaction had been committed/,
		"$late: a warning");
	unlike($stderr, qr/ERROR|FATAL|PANIC/, "$late: no error");
}

my ($stdout, $stderr) = commit_with('SELECT 1');
is($stdout, "1\n1 3", 'a query that does not use the connection leaves it open');
is($stderr, '', 'and there is no warning');

# At the end of a subtransaction it belongs to the level around it.
$node->safe_psql('postgres', 'TRUNCATE goods');
is( $node->safe_psql(
		'postgres', <<"SQL"),
LOAD '$library';
BEGIN;
SAVEPOINT a;
INSERT INTO far_goods VALUES (1);
SET LOCAL late_callback.subquery = 'INSERT INTO far_goods VALUES (2)';
RELEASE a;
SET LOCAL late_callback.subquery = '';
INSERT INTO far_goods VALUES (3);
SAVEPOINT b;
INSERT INTO far_goods VALUES (4);
ROLLBACK TO b;
COMMIT;
SELECT string_agg(id::text, ' ' ORDER BY id) FROM goods;
SQL
	'1 2 3',
	'a savepoint that is used while it is released');

# One that fails while it commits is rolled back remotely, too.
$node->safe_psql('postgres', 'TRUNCATE goods; CREATE TABLE near_goods (id int)');
is( $node->safe_psql(
		'postgres', <<"SQL"),
LOAD '$library';
SELECT count(*) FROM far_goods;
DO \$\$
BEGIN
	INSERT INTO far_goods VALUES (1);
	BEGIN
		INSERT INTO near_goods VALUES (2);
		INSERT INTO far_goods VALUES (2);
		PERFORM set_config('late_callback.subquery', 'SELECT 1/0', true);
	EXCEPTION WHEN division_by_zero THEN
		NULL;
	END;
END \$\$;
SELECT string_agg(id::text, ' ' ORDER BY id) FROM goods;
SELECT count(*) FROM near_goods;
SQL
	"0\n1\n0",
	'a block that fails while it commits');

done_testing();
