# What pg_stat_statements is told of rows that are sent behind the executor's back.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf',
	"shared_preload_libraries = 'pg_stat_statements'");
$node->start;

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', <<"END");
CREATE EXTENSION pg_stat_statements;
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER ours;
CREATE TABLE goods (id int PRIMARY KEY);
INSERT INTO goods SELECT generate_series(1, 10);
CREATE FOREIGN TABLE remote_goods (id int) SERVER ours OPTIONS (table_name 'goods');
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql
AS \$\$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END \$\$;
CREATE TRIGGER dawdle BEFORE INSERT ON goods FOR EACH ROW EXECUTE FUNCTION dawdle();
END

# What it says of the statement with a comment like this.
sub figures
{
	my ($statement) = @_;

	$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');
	$node->safe_psql('postgres', "INSERT INTO remote_goods $statement");
	return split(
		/\|/,
		$node->safe_psql(
			'postgres',
			q{SELECT rows, total_exec_time FROM pg_stat_statements
			  WHERE query LIKE 'INSERT INTO remote_goods%'}));
}

my ($rows, $ms) =
  figures('SELECT generate_series(6, 15) ON CONFLICT DO NOTHING');
is($rows, 5, 'rows that the remote server skipped are not counted');
cmp_ok($ms, '>=', 500, 'the time of the remote server counts');

done_testing();
