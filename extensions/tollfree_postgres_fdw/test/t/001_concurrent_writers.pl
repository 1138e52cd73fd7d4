# pgbench's TPC-B over two servers: what several writing clients come to.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 5;
my $each = 40;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

# Two remote databases, and a local one with accounts in the first and
# everything else in the second.
foreach my $database ('first', 'second')
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->command_ok(
		[ 'pgbench', '--initialize', '--quiet', $database ],
		"pgbench's tables in $database");
}
$node->safe_psql('postgres', 'CREATE DATABASE local');
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('local', <<"END");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE SERVER first FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'first');
CREATE SERVER second FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'second');
CREATE USER MAPPING FOR CURRENT_USER SERVER first;
CREATE USER MAPPING FOR CURRENT_USER SERVER second;
IMPORT FOREIGN SCHEMA public LIMIT TO (pgbench_accounts) FROM SERVER first INTO public;
IMPORT FOREIGN SCHEMA public EXCEPT (pgbench_accounts) FROM SERVER second INTO public;
END

# What a pgbench run says of one count.
sub count_in
{
	my ($output, $name) = @_;
	my ($count) = $output =~ /^number of $name: (\d+)/m;

	return $count;
}

# Runs TPC-B from empty books, with further options.  Tests that every
# transaction is either done or was refused by a failure to serialize, and that
# the books show the ones done and no others.  Returns how many were refused.
#
# pgbench counts SQLSTATE 40001 as that and 40P01 as a deadlock.  By any other
# error a client ends, and pgbench fails.
sub run_clients
{
	my ($name, @options) = @_;

	$node->safe_psql('first', 'UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0');
	$node->safe_psql('second',
		'TRUNCATE pgbench_history;'
		  . ' UPDATE pgbench_tellers SET tbalance = 0; UPDATE pgbench_branches SET bbalance = 0');
	my ($stdout, $stderr) = run_command(
		[
			'pgbench', '--no-vacuum', '--failures-detailed', '--client', $clients,
			'--transactions', $each, @options, $node->connstr('local')
		]);
	is($stderr =~ s/^pgbench \(.*\n//r, '', "$name: no client ends early");

	my $refused = count_in($stdout, 'serialization failures');
	my $done = count_in($stdout, 'transactions actually processed');
	is(count_in($stdout, 'deadlock failures'), 0, "$name: no deadlocks");
	is($done + $refused, $clients * $each, "$name: each is done or refused")
	  or diag($stdout);

	my $accounts = $node->safe_psql('first', 'SELECT sum(abalance) FROM pgbench_accounts');
	is( $node->safe_psql(
			'second', <<'END'), "$done|$accounts|$accounts|$accounts", "$name: the books agree");
SELECT count(*), sum(delta), (SELECT sum(tbalance) FROM pgbench_tellers),
	(SELECT sum(bbalance) FROM pgbench_branches)
FROM pgbench_history
END
	return $refused;
}

# They all write the same branch, so most wait for each other.
foreach my $protocol ('simple', 'prepared')
{
	my $name = "repeatable read, $protocol";
	cmp_ok(run_clients($name, '--protocol', $protocol), '>', 0, "$name: some are refused");
}
is(run_clients('repeatable read, tried again', '--max-tries', 100 * $clients),
	0, 'repeatable read: all are done when they are tried again');

$node->safe_psql('local',
	"ALTER SERVER $_ OPTIONS (ADD remote_isolation 'read committed')")
  foreach ('first', 'second');
foreach my $protocol ('simple', 'prepared')
{
	my $name = "read committed, $protocol";
	is(run_clients($name, '--protocol', $protocol), 0, "$name: none is refused");
}

$node->stop;
done_testing();
