# How many servers a session can use at the same time, how many of its file
# descriptors it uses to wait for them, and what a clean-up does without one.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# More than have a wait set, and more than connections fit into 64 descriptors.
my $servers = 40;
my $wait_sets = 16;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

my $host = $node->host;
my $port = $node->port;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE EXTENSION dblink;
CREATE TABLE goods (id int);
INSERT INTO goods VALUES (1);
CREATE TABLE epolls (number int);
SQL
foreach my $wrapper ('postgres_fdw', 'tollfree_postgres_fdw')
{
	$node->safe_psql('postgres', join('', map { <<"SQL" } 1 .. $servers));
CREATE SERVER ${wrapper}_$_ FOREIGN DATA WRAPPER $wrapper
	OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER ${wrapper}_$_;
CREATE FOREIGN TABLE ${wrapper}_$_ (id int) SERVER ${wrapper}_$_ OPTIONS (table_name 'goods');
SQL
}

# Runs statements in one session; what they print, and the SQLSTATEs of errors.
sub run_session
{
	my ($stdout, $stderr);

	$node->psql(
		'postgres', join("\n", '\set VERBOSITY sqlstate', @_),
		stdout => \$stdout,
		stderr => \$stderr,
		on_error_stop => 0);
	return ([ split(/\n/, $stdout) ], [ $stderr =~ /ERROR:  (\w{5})/g ]);
}

# Statements that read tables of a wrapper, one each.
sub reads
{
	my ($wrapper, @numbers) = @_;

	return map { "SELECT 'read' FROM ${wrapper}_$_;" } @numbers;
}

# Counts the session's epoll instances; the server's own are among them.
my @count_epolls = (
	'TRUNCATE epolls;',
	q{COPY epolls FROM PROGRAM 'ls -l /proc/$PPID/fd | grep -c eventpoll';},
	'SELECT number FROM epolls;');

SKIP:
{
	skip 'no /proc to count descriptors in', 6 unless -d '/proc/self/fd';

	my ($printed, $errors) = run_session(
		@count_epolls,
		reads('tollfree_postgres_fdw', 1 .. $servers),
		@count_epolls,
		# Places that are given up are for others.
		(map { "SELECT 'closed ' || tollfree_postgres_fdw_disconnect('tollfree_postgres_fdw_$_');" } 1 .. 20),
		@count_epolls,
		reads('tollfree_postgres_fdw', reverse 1 .. $servers),
		@count_epolls,
		"SELECT 'all ' || tollfree_postgres_fdw_disconnect_all();",
		@count_epolls);
	my ($before, @after) = grep { /^\d+$/ } @$printed;

	is_deeply($errors, [], 'enough descriptors: no errors');
	is(scalar(grep { $_ eq 'read' } @$printed), 2 * $servers, 'every server is read');
	is($after[0] - $before, $wait_sets, 'few wait sets are kept');
	cmp_ok($after[1] - $before, '<', $wait_sets, 'closing connections frees theirs');
	is($after[2] - $before, $wait_sets, 'other connections get them');
	is($after[3], $before, 'none is left behind');
}

$node->append_conf('postgresql.conf', 'max_files_per_process = 64');
$node->restart;

# How many servers are read before the first error?
sub most_servers
{
	my ($wrapper) = @_;
	my ($printed, $errors) = run_session(
		'\set ON_ERROR_STOP on', reads($wrapper, 1 .. $servers));

	cmp_ok(scalar(@$errors), '==', 1, "$wrapper: few descriptors are enough for some servers");
	return scalar @$printed;
}

my $most = most_servers('tollfree_postgres_fdw');
cmp_ok($most, '>=', most_servers('postgres_fdw') - 1, 'about as many as with postgres_fdw');

my ($printed, $errors) = run_session(
	reads('tollfree_postgres_fdw', 1 .. $servers, 1 .. $most),
	'BEGIN;',
	reads('tollfree_postgres_fdw', 1 .. $most),
	'SAVEPOINT s;',
	"SELECT pg_sleep(10) FROM tollfree_postgres_fdw_$servers;",
	'ROLLBACK TO s;',
	reads('tollfree_postgres_fdw', 1 .. $most),
	'ROLLBACK;',
	reads('tollfree_postgres_fdw', 1 .. $most),
	"SELECT 'closed ' || tollfree_postgres_fdw_disconnect('tollfree_postgres_fdw_1');",
	reads('tollfree_postgres_fdw', $servers));
is_deeply($errors, [ ('08001') x ($servers - $most + 1) ], 'one server more is one too many');
is(scalar(grep { $_ eq 'read' } @$printed), 5 * $most + 1, 'those connected stay usable');

# A clean-up takes a descriptor to cancel with.  All others are taken by dblink: in
# a first session as many as there are, then all but those that servers 1 and 2
# take, the second of which is given up when the first has no wait set any more.
SKIP:
{
	skip 'before 17 a cancel request is waited for without a descriptor', 3
		if $node->pg_version < 17;

	$node->safe_psql('postgres', <<"SQL");
CREATE VIEW slow_view AS SELECT 1 AS id FROM pg_sleep(600);
CREATE FOREIGN TABLE slow (id int) SERVER tollfree_postgres_fdw_1 OPTIONS (table_name 'slow_view');
SQL
	my $connect = "SELECT 'taken' FROM dblink_connect('n%s', 'host=$host port=$port dbname=postgres');";
	my $read = "SELECT 'read' FROM tollfree_postgres_fdw_%d;";
	($printed) = run_session(
		sprintf($read, 1), '\set ON_ERROR_STOP on',
		map { sprintf($connect, $_) } 1 .. 64);
	my $taken = grep { $_ eq 'taken' } @$printed;
	cmp_ok($taken, '>', 2, 'dblink takes descriptors');
	($printed, $errors) = run_session(
		sprintf($read, 1),
		(map { sprintf($connect, $_) } 1 .. $taken),
		"SELECT dblink_disconnect('n1');",
		sprintf($read, 2),
		"SELECT tollfree_postgres_fdw_disconnect('tollfree_postgres_fdw_2');",
		sprintf($connect, 'last'),
		sprintf($connect, 'of all'),
		"SET statement_timeout = '300ms';",
		'SELECT * FROM slow;',
		'RESET statement_timeout;',
		sprintf($read, 1));
	is_deeply($errors, ['57014'], 'without a descriptor a query is cancelled');
	is($printed->[-1], 'read', 'and the session goes on');
}

$node->stop;
done_testing();
