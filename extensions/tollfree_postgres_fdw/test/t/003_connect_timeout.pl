# A server that accepts connections and stays silent, and connect_timeout.
#
# postgres_fdw 15 gives up then, and later ones wait on: what it does is what is
# expected.  statement_timeout ends what waits on.

use strict;
use warnings;

use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The kernel accepts what nobody does.
my $silent = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1')
  or die "cannot listen: $!";
my $silent_port = $silent->sockport;

my $services = PostgreSQL::Test::Utils::tempdir() . '/services';
append_to_file($services,
	"[silent]\nhost=127.0.0.1\nport=$silent_port\nconnect_timeout=2\n");
$ENV{PGSERVICEFILE} = $services;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my $host = $node->host;
my $port = $node->port;

$node->safe_psql('postgres',
	'CREATE EXTENSION tollfree_postgres_fdw CASCADE; CREATE TABLE goods (id int)');

# What reading a table comes to through a wrapper, with these options of the server.
sub outcome
{
	my ($wrapper, $options) = @_;
	my ($stdout, $stderr);

	$node->safe_psql('postgres', <<"SQL");
DROP SERVER IF EXISTS remote CASCADE;
CREATE SERVER remote FOREIGN DATA WRAPPER $wrapper OPTIONS ($options);
CREATE USER MAPPING FOR CURRENT_USER SERVER remote;
CREATE FOREIGN TABLE remote_goods (id int) SERVER remote OPTIONS (table_name 'goods');
SQL
	$node->psql(
		'postgres', <<'SQL', stdout => \$stdout, stderr => \$stderr);
\set VERBOSITY verbose
SET statement_timeout = '3500ms';
SELECT count(*) FROM remote_goods;
SQL
	my ($state) = $stderr =~ /ERROR:  (\w{5}):/;
	my ($detail) = $stderr =~ /^DETAIL:  (.*)/m;
	return join(', ', grep { defined && $_ ne '' } $stdout, $state, $detail);
}

# Tests that both wrappers make the same of these options, and on 15 what is expected.
sub compare
{
	my ($name, $options, $expected) = @_;
	my $stock = outcome('postgres_fdw', $options);

	like($stock, $expected, "$name: what postgres_fdw 15 does")
	  if $node->pg_version < 16;
	is(outcome('tollfree_postgres_fdw', $options), $stock, "$name: as postgres_fdw");
}

my $expired = qr/^08001, .*timeout expired/;
my $address = "host '127.0.0.1', port '$silent_port'";

compare('an option', "$address, connect_timeout '2'", $expired);

# To later majors it is one, however it is set: nothing looks at it.
if ($node->pg_version < 16)
{
	compare(
		'an option, two hosts',
		"host '127.0.0.1,$host', port '$silent_port,$port', dbname 'postgres', connect_timeout '2'",
		qr/^0$/);
	compare('a service', "service 'silent'", $expired);

	$node->stop;
	local $ENV{PGCONNECT_TIMEOUT} = 2;
	$node->start;
	compare('the environment', $address, $expired);
}

$node->stop;
done_testing();
