# postgres_fdw's own import of statistics, from PostgreSQL 19 on: the same
# statistics, sizes, warnings and fallbacks over our connection, in fewer round trips.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($major) = `pg_config --version` =~ /^PostgreSQL (\d+)/;
plan skip_all => 'PostgreSQL 19 is the first to import statistics' if $major < 19;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
my ($host, $port) = ($node->host, $node->port);

$node->safe_psql('postgres', 'CREATE EXTENSION tollfree_postgres_fdw CASCADE');
# Betas of 19 name the option restore_stats.
my ($unknown) = $node->psql('postgres', "CREATE SERVER probe FOREIGN DATA WRAPPER postgres_fdw OPTIONS (import_stats 'true')");
my $option = $unknown ? 'restore_stats' : 'import_stats';
my $other = $unknown ? 'import_stats' : 'restore_stats';

$node->safe_psql('postgres', <<"END");
CREATE SCHEMA remote;
CREATE TABLE remote.goods AS SELECT i AS id, 'kind ' || i % 7 AS kind, ARRAY[i % 5, i % 3] AS tags, int4range(i, i + i % 9) AS span,
	now() + i * interval '1 hour' AS made, nullif(i % 3, 0) AS part, i / 7.0 AS weight FROM generate_series(1, 3000) i;
CREATE TABLE remote.empty (id int, "it's" text);
CREATE TABLE remote.parent (id int) PARTITION BY RANGE (id);
CREATE TABLE remote.parent_1 PARTITION OF remote.parent FOR VALUES FROM (0) TO (100);
INSERT INTO remote.parent SELECT i FROM generate_series(0, 99) i;
CREATE VIEW remote.view AS SELECT * FROM remote.goods;
CREATE TABLE remote.untold AS SELECT i AS id, i AS n FROM generate_series(1, 100) i;
ALTER TABLE remote.untold ALTER n SET STATISTICS 0;
CREATE SCHEMA stock;
CREATE SCHEMA ours;
CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', $option 'true');
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', import_stats 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER stock;
CREATE USER MAPPING FOR CURRENT_USER SERVER ours;
IMPORT FOREIGN SCHEMA remote FROM SERVER stock INTO stock;
IMPORT FOREIGN SCHEMA remote FROM SERVER ours INTO ours;
END

# What ANALYZE says, without the place of its table, and a digest of what is known
# afterwards.
sub analyzed
{
	my ($side, $table) = @_;
	my ($name) = $table =~ /^(\w+)/;
	my ($status, undef, $error) = $node->psql('postgres', "SET client_min_messages = warning; ANALYZE $side.$table");
	my $known = $node->safe_psql('postgres', <<"END");
SELECT reltuples, relpages FROM pg_class WHERE oid = '$side.$name'::regclass;
SELECT md5(string_agg((to_jsonb(s) - '{schemaname,tableid}'::text[])::text, '' ORDER BY attname)) FROM pg_stats s WHERE schemaname = '$side' AND tablename = '$name';
SELECT pg_stat_get_live_tuples('$side.$name'::regclass);
END
	$error =~ s/"$side\./"/g;
	return "$status $error\n$known";
}

# Sampled statistics differ by chance, so only what is said is compared of them.
sub compare
{
	my ($table, $pattern) = @_;
	my ($stock, $ours) = map { analyzed($_, $table) } ('stock', 'ours');

	($stock, $ours) = map { s/\n.*//sr } ($stock, $ours) if $pattern;
	is($ours, $stock, "$table: as by postgres_fdw");
	like($stock, $pattern // qr/^0 \n/, "$table: what postgres_fdw says");
}

compare('goods', qr/has no relation statistics to import/);
$node->safe_psql('postgres', 'ANALYZE');
$node->safe_psql('postgres', 'DELETE FROM pg_statistic WHERE starelid::regclass::text ~ $$^(stock|ours)$$');
compare($_) foreach ('goods', 'empty', 'parent');
# Stale statistics are imported, too; and only the columns that are named.
$node->safe_psql('postgres', 'DELETE FROM remote.goods WHERE id > 2000');
compare('goods');
$node->safe_psql('postgres', 'ANALYZE remote.goods');
compare('goods (id, made)');
compare('goods');
compare('view', qr/is of relkind "v" which cannot have statistics/);
compare('untold', qr/no attribute statistics found for column "n" of remote table "remote.untold"/);
$node->safe_psql('postgres', "CREATE STATISTICS $_.together (dependencies) ON id, kind FROM $_.goods") foreach ('stock', 'ours');
compare('goods', qr/has extended statistics objects/);
$node->safe_psql('postgres', "DROP STATISTICS $_.together") foreach ('stock', 'ours');
# Columns of other types and names, and a table that is not there
$node->safe_psql('postgres', <<"END") foreach ('stock', 'ours');
CREATE FOREIGN TABLE $_.odd (num bigint OPTIONS (column_name 'id'), kind varchar, tags text, part int) SERVER $_ OPTIONS (schema_name 'remote', table_name 'goods');
CREATE FOREIGN TABLE $_.nowhere (id int) SERVER $_ OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE $_.sampled (id int) SERVER $_ OPTIONS (schema_name 'remote', table_name 'goods', $option 'false');
END
compare('odd (num, kind, part)');
compare('odd', qr/could not determine element type of column "tags"/);
compare('nowhere', qr/^3 .*ERROR:  relation "remote.nowhere" does not exist/);
compare('sampled', qr/^0 $/);

my $trips = $node->safe_psql('postgres', <<'END');
SELECT count(*) FROM ours.empty;
SELECT round_trips FROM tollfree_postgres_fdw_get_connections() \gset
ANALYZE ours.goods;
SELECT round_trips - :round_trips FROM tollfree_postgres_fdw_get_connections();
SELECT count(*) FROM postgres_fdw_get_connections();
END
is($trips, "0\n1\n0", 'one round trip, and no connection of postgres_fdw');

# Either name is taken, and what the options of a table and its server say of
# importing, analyze_sampling 'import' among them, comes to one answer.
sub outcome
{
	my ($server, $table) = @_;

	$node->safe_psql('postgres', <<"END");
CREATE SERVER chosen FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres'$server);
CREATE USER MAPPING FOR CURRENT_USER SERVER chosen;
CREATE FOREIGN TABLE chosen (id int) SERVER chosen OPTIONS (schema_name 'remote', table_name 'goods'$table);
END
	my (undef, undef, $error) = $node->psql('postgres', 'ANALYZE VERBOSE chosen');

	$node->safe_psql('postgres', 'DROP SERVER chosen CASCADE');
	return join(' ', $error =~ /(finished importing|its statistics are imported|are sampled|rows in sample)/g);
}

is(outcome(q{, restore_stats 'true'}, ''), 'finished importing', 'restore_stats');
is(outcome(q{, import_stats 'true'}, ''), 'finished importing', 'import_stats');
is(outcome(q{, import_stats 'true'}, q{, restore_stats 'false'}), 'rows in sample', "the table's option decides, by either name");
is(outcome('', q{, analyze_sampling 'import'}), 'its statistics are imported', 'analyze_sampling');
is(outcome(q{, import_stats 'true'}, q{, analyze_sampling 'import'}), 'finished importing', 'both');
is(outcome(q{, analyze_sampling 'import'}, q{, import_stats 'false'}), 'rows in sample', "the table's option decides over analyze_sampling");
is(outcome(q{, import_stats 'false'}, q{, analyze_sampling 'import'}), 'its statistics are imported', 'and analyze_sampling over it');
$node->safe_psql('postgres', 'DELETE FROM remote.goods WHERE id > 1000');
is(outcome('', q{, analyze_sampling 'import'}), 'are sampled rows in sample', 'stale statistics are refused');
is(outcome(q{, analyze_sampling 'import'}, q{, import_stats 'true'}), 'finished importing', 'but not by import_stats');

sub refused
{
	my ($options, $error) = @_;

	like(($node->psql('postgres', "ALTER SERVER ours OPTIONS ($options)"))[2], $error, $options);
}

refused("ADD restore_stats 'true'", qr/ERROR:  options "import_stats" and "restore_stats" cannot be used together/);
refused("ADD analyze_sampling 'import', SET import_stats 'false'", qr/ERROR:  option "import_stats" is off, but "analyze_sampling" is "import"/);
refused("SET import_stats 'perhaps'", qr/ERROR:  import_stats requires a Boolean value/);
like(($node->psql('postgres', "ALTER USER MAPPING FOR CURRENT_USER SERVER ours OPTIONS (import_stats 'true')"))[2],
	qr/ERROR:  invalid option "import_stats"/, 'not of user mappings');

# A server goes back only with the name that postgres_fdw knows.
$node->safe_psql('postgres', "ALTER SERVER ours OPTIONS (DROP import_stats, ADD $other 'true')");
like(($node->psql('postgres', q{SELECT tollfree_postgres_fdw_release('ours')}))[2],
	qr/ERROR:  invalid option "$other"/, "release with $other");
$node->safe_psql('postgres', "ALTER SERVER ours OPTIONS (DROP $other, ADD $option 'true')");
$node->safe_psql('postgres', q{SELECT tollfree_postgres_fdw_release('ours')});
done_testing();
