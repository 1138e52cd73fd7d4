# When a backend goes, however it goes, the command that it runs goes too.

use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

# Members of the command's group, and descendants that left it; none of them
# minds SIGTERM, SIGINT or SIGHUP.
my $script = 'trap "" TERM INT HUP;'
  . ' sleep $1 & setsid sleep $1 & (setsid sh -c "sleep $1; :" &); wait';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION tollfree_lab');

# The processes whose command line has the marker.
sub count_processes
{
	my ($marker) = @_;
	my $found = 0;

	foreach my $file (glob '/proc/[0-9]*/cmdline')
	{
		open(my $handle, '<', $file) or next;
		my $cmdline = <$handle> // '';
		close $handle;
		$found++ if index($cmdline, $marker) >= 0;
	}
	return $found;
}

# Waits until that many processes have the marker; false if they never do.
sub poll_processes
{
	my ($marker, $least, $most) = @_;

	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $count = count_processes($marker);
		return 1 if $count >= $least && $count <= $most;
		usleep(100_000);
	}
	return 0;
}

# Waits until the server answers.  Nothing is written to psql: one that cannot
# connect would end before it has read that, and writing to it end the test.
sub poll_server
{
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my ($stdout, $stderr);

		return 1
		  if IPC::Run::run(
			[
				'psql', '-X', '-d', $node->connstr('postgres'),
				'-c', 'SELECT true'
			],
			'>', \$stdout, '2>', \$stderr);
		usleep(100_000);
	}
	return 0;
}

# Runs the script in a new backend, calls $end with the backend's process id
# once all its processes are there, and tests that all of them go.
sub test_end
{
	my ($name, $end) = @_;
	our $tests;
	my $nap = sprintf('86401.%d%03ds', $$, ++$tests);
	my ($stdout, $stderr) = ('', '');
	# Not on psql's own command line, which would then have the marker too.
	my $file = $node->basedir . "/$tests.sql";
	append_to_file($file,
		"SELECT lab.run_command(ARRAY['/bin/sh', '-c', '$script', 'sh', '$nap'], '{PATH=/bin}');"
	);
	my $psql = IPC::Run::start(
		[
			'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d',
			$node->connstr('postgres'), '-f', $file
		],
		'>', \$stdout, '2>', \$stderr);

	# The runner, the shell, three times sleep and the shell of the last.
	ok(poll_processes($nap, 6, 6), "$name: all processes run");
	my $backend = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE query LIKE '%$nap%' AND pid <> pg_backend_pid()"
	);
	like($backend, qr/^\d+$/, "$name: one backend runs them");
	$end->($backend);
	ok(poll_processes($nap, 0, 0), "$name: no process is left");
	$psql->finish;
	isnt($psql->result, 0, "$name: the query failed");
	return $stderr;
}

like(
	test_end(
		'cancel',
		sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend($_[0])") }),
	qr/canceling statement due to user request/,
	'cancel: said so');

like(
	test_end(
		'terminate',
		sub {
			$node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0])");
		}),
	qr/terminating connection due to administrator command/,
	'terminate: said so');

test_end('backend killed', sub { kill 'KILL', $_[0] });
ok(poll_server(),
	'the server recovers from a killed backend');

test_end('fast shutdown', sub { $node->stop('fast') });
$node->start;
test_end('immediate shutdown', sub { $node->stop('immediate') });
$node->start;
is( $node->safe_psql(
		'postgres', "SELECT exit_status FROM lab.run_command('{/bin/true}')"),
	'0',
	'commands run after all that');
test_end('postmaster killed', sub { $node->kill9 });

done_testing();
