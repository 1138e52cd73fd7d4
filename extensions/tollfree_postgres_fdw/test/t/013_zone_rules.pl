# A time zone whose rules the remote server has of another year.

use strict;
use warnings;

use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $share = `pg_config --sharedir`;
chomp $share;
my $zones = "$share/timezone";

plan skip_all => 'the servers read the zone files of the system'
  if `pg_config --configure` =~ /--with-system-tzdata/;
plan skip_all => 'the zone files cannot be written'
  unless -d $zones && -w $zones;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my ($host, $port) = ($node->host, $node->port);

my $address = "host '$host', port '$port', dbname 'postgres'";
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE moments AS
	SELECT i AS id, timestamptz '1940-01-01 00:00+00' + i * interval '10 hours' AS ts FROM generate_series(1, 20000) i;
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS ($address);
CREATE USER MAPPING FOR CURRENT_USER SERVER ours;
CREATE FOREIGN TABLE ours (id int, ts timestamptz) SERVER ours OPTIONS (table_name 'moments');
ANALYZE ours;
SQL

# A backend reads a zone's file once.  So the local one has the first file, and the
# remote one, which is connected later, the second.
my $file = "$zones/Tollfree";

sub check
{
	my ($name, $first, $second, $travels) = @_;

	copy("$zones/$first", $file) or die "cannot write $file: $!";
	my $out = $node->safe_psql('postgres', <<"SQL");
LOAD 'tollfree_postgres_fdw';
SET timezone = 'Tollfree';
\\! cp $zones/$second $file
SET plan_cache_mode = force_generic_plan;
PREPARE whole(text) AS SELECT md5(string_agg(q::text, ' ' ORDER BY q)) FROM
	(SELECT ts::date, extract(hour FROM ts), count(*) FROM ours GROUP BY 1, 2) q;
PREPARE one(date) AS SELECT count(*), min(id), max(id) FROM ours WHERE ts::date < \$1;
EXECUTE whole('');
EXECUTE one('1945-07-01');
SET timezone = 'UTC';
EXECUTE one('1945-07-01');
SET timezone = 'Tollfree';
EXECUTE one('1945-07-01');
SELECT md5(string_agg(q::text, ' ' ORDER BY q)) FROM
	(SELECT ts::date, extract(hour FROM ts), count(*) FROM moments GROUP BY 1, 2) q;
SELECT count(*), min(id), max(id) FROM moments WHERE ts::date < '1945-07-01';
DO \$\$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) EXECUTE one(''1945-07-01'')' INTO plan;
	PERFORM set_config('app.received', jsonb_path_query_first(plan::jsonb, 'strict \$.**."Rows Received"')::text, false);
END
\$\$;
SELECT current_setting('app.received')::int > 10000;
SQL
	unlink $file;
	my @lines = split /\n/, $out;
	is($lines[0], $lines[4], "$name: groups");
	is($lines[1], $lines[5], "$name: rows");
	is($lines[3], $lines[5], "$name: rows by a plan that was executed in another zone");
	is($lines[6], $travels ? 't' : 'f', "$name: " . ($travels ? 'evaluated here' : 'decided there'));
	return;
}

check('the same rules', 'Europe/Berlin', 'Europe/Berlin', 0);
check('other rules', 'Europe/Berlin', 'America/New_York', 1);
check('other rules in the past', 'Europe/Berlin', 'Europe/Vienna', 1);
check('no such zone', 'Europe/Berlin', '../timezonesets/Default', 1);

done_testing();
