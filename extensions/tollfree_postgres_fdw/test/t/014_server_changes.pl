# A server that has another major version, or another encoding, than a cached plan needs.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

# What the server says of itself is changed on its way, as this file says.
my $claims = $node->basedir . '/claims';
my $socket = $node->host . '/.s.PGSQL.' . $node->port;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 10)
  or die "cannot listen: $!";
my $proxy = fork();
die "cannot fork: $!" unless defined $proxy;
relay() if $proxy == 0;

sub changed
{
	my ($bytes) = @_;
	my $claim = -e $claims ? slurp_file($claims) : '';

	$bytes =~ s/server_version\0\d\d/server_version\x0099/ if $claim =~ /version/;
	$bytes =~ s/server_encoding\0UTF8/server_encoding\0ABCD/ if $claim =~ /encoding/;
	return $bytes;
}

sub relay
{
	my %other;
	my %is_server;
	my $select = IO::Select->new($listener);

	# The server is not this process's to stop.
	$SIG{TERM} = sub { POSIX::_exit(0) };

	while (my @ready = $select->can_read)
	{
		foreach my $from (@ready)
		{
			if ($from == $listener)
			{
				my $client = $listener->accept;
				my $server = IO::Socket::UNIX->new(Peer => $socket);

				$other{$client} = $server;
				$other{$server} = $client;
				$is_server{$server} = 1;
				$select->add($client, $server);
				next;
			}
			next unless $select->exists($from);
			my $to = $other{$from};

			if (sysread($from, my $bytes, 65536))
			{
				$bytes = changed($bytes) if $is_server{$from};
				syswrite($to, $bytes);
				next;
			}
			$select->remove($from, $to);
			close $from;
			close $to;
		}
	}
	POSIX::_exit(0);
}

my $port = $listener->sockport;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE kept AS
	SELECT i AS id, jsonb_build_object('n', i % 20, 'k', 'ä' || i % 30) AS doc FROM generate_series(1, 1000) i;
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER ours;
CREATE FOREIGN TABLE ours (id int, doc jsonb) SERVER ours OPTIONS (table_name 'kept');
ANALYZE ours;
SQL

# Each plan is made when nothing is known, or all is the same; then the server changes.
sub check
{
	my ($name, $claim, $first) = @_;
	my $execute = join "\n", map { "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE $_;\nEXECUTE $_;" } qw(n k);
	my $out = $node->safe_psql('postgres', <<"SQL");
LOAD 'tollfree_postgres_fdw';
\\! echo '$first' > $claims
SET plan_cache_mode = force_generic_plan;
PREPARE n AS SELECT 'n', count(*), min(id) FROM ours WHERE (doc->>'n')::int = 7;
PREPARE k AS SELECT 'k', count(*), min(id) FROM ours WHERE left(doc->>'k', 2) = 'ä7';
$execute
SELECT tollfree_postgres_fdw_disconnect_all() AS gone;
\\! echo '$claim' > $claims
$execute
SQL
	my @answers = $out =~ /^([nk]\|.*)$/mg;

	is_deeply(\@answers, [ ('n|50|7', 'k|34|7') x 2 ], "$name: the answers");
	return scalar(() = $out =~ /^\s*Filter:/mg);
}

is(check('the same', '', ''), 0, 'all is sent to the same server');
is(check('another version', 'version', ''), 1, 'casts of texts are made here');
is(check('another encoding', 'encoding', ''), 1, 'characters are counted here');
# The first plan is made before anything is known, the second one for the other server.
is(check('both, then the same', '', 'version encoding'), 3, 'a plan is good again');

kill 'TERM', $proxy;
waitpid $proxy, 0;
$node->stop;
done_testing();
