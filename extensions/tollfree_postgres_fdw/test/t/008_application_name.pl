# What a remote session is called.
#
# Not a regression test: servers that pg_regress starts have PGAPPNAME in their
# environment, which comes before libpq's fallback.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

my $host = $node->host;
my $port = $node->port;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE VIEW me AS SELECT current_setting('application_name') AS name;
CREATE SERVER here FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here;
CREATE FOREIGN TABLE far_me (name text) SERVER here OPTIONS (table_name 'me');
SQL

# The remote session's name in a new local session, after this command.
sub name_after
{
	my ($command) = @_;

	return $node->safe_psql('postgres', "$command; SELECT name FROM far_me");
}

is(name_after(''), 'tollfree_postgres_fdw', 'the fallback');
is( name_after("LOAD 'postgres_fdw'; SET postgres_fdw.application_name = 'set'"),
	'set',
	'the setting comes before the fallback');
is(name_after("ALTER SERVER here OPTIONS (ADD application_name 'option')"),
	'option', 'the option comes before the fallback');
is( name_after("LOAD 'postgres_fdw'; SET postgres_fdw.application_name = 'set'"),
	'set',
	'the setting comes before the option');

$node->stop;
done_testing();
