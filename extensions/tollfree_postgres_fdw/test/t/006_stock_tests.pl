# The tests of postgres_fdw, on servers of this wrapper.
#
# They are read where PostgreSQL's source is at hand: in the folder that
# STOCK_TESTS names, or where tools/build-postgres keeps them.  The scripts and
# the output that they expect are rewritten in the same way: servers are of this
# wrapper, and its functions list and close the connections.  The lines that
# EXPLAIN has here in addition are taken out of the real output.  What differs
# then has to be what is listed here, no more and no less.
#
# All run twice: without plans of our own, for postgres_fdw's, and with them, when
# plans are left out of both outputs.

use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `pg_config --sharedir`);
my $stock = $ENV{STOCK_TESTS} || "$share/postgres_fdw_tests";
plan skip_all => "$stock has no tests of postgres_fdw; "
  . "STOCK_TESTS can name contrib/postgres_fdw in the source of this PostgreSQL"
  if !-e "$stock/sql/postgres_fdw.sql";

my ($major) = `pg_config --version` =~ /^PostgreSQL (\d+)/;
my $work = PostgreSQL::Test::Utils::tempdir();
my @settings = qw(batched_lookups join_estimates partial_aggregates remote_limits
  remote_expressions);
my $own_plans = 'off';

# What differs in the output of a test, in its order: the reason, and what diff
# prints of it.
my %differences = (
	postgres_fdw => [
		{
			reason => 'an error in COPY does not name the line unless each row is awaited',
			diff => qr/^< COPY rem2, line 1: .*\n---\n> COPY rem2\n$/,
		},
		{
			reason => 'an error while a cursor is opened names the query, without DECLARE; who ended the session is told',
			diff => qr/^< ERROR:  (no connection.*\n)< (.*: )DECLARE c1 CURSOR FOR\n< (.*\n)---\n> ERROR:  FATAL:  .*\n> \1> \2\3$/,
		},
		{
			reason => 'a cursor whose rows are all here has nothing to close remotely',
			diff => qr/^< ERROR:  no connection to the server\n< .*: CLOSE c1\n$/,
		},
	],
	query_cancel => [],
	eval_plan_qual => [],
);
# PostgreSQL 15 has each row of that COPY awaited.
shift @{ $differences{postgres_fdw} } if $major == 15;
delete $differences{query_cancel} if !-e "$stock/sql/query_cancel.sql";

# A script, or its expected output, for this wrapper.  Columns are named where
# our function has more of them.  The servers allow lookups in batches, which the
# setting then switches on and off.
sub rewrite
{
	my ($text) = @_;

	$text =~ s/^(CREATE EXTENSION )(postgres_fdw;)$/$1$2 $1tollfree_$2/m;
	$text =~ s/(FOREIGN DATA WRAPPER )(?=postgres_fdw\b)/$1tollfree_/g;
	$text =~ s/(tollfree_postgres_fdw\s+OPTIONS \()(?=dbname)/$1batched_lookups 'true', /g;
	$text =~ s/\*( FROM postgres_fdw_get_connections\(\))/server_name, valid$1/g;
	$text =~ s/\b(?=postgres_fdw_(get_connections|disconnect))/tollfree_/g;
	return $text;
}

foreach my $folder ('sql', 'specs', 'expected')
{
	mkdir "$work/$folder";
	foreach my $file (glob("'$stock/$folder/*'"))
	{
		append_to_file("$work/$folder/" . basename($file), rewrite(slurp_file($file)));
	}
}

# The output without what EXPLAIN has in addition, those lines not counted among
# a result's rows.  The padding of lines and the length of rulers, which follow
# the longest line, are left out.  So is which row a LIMIT has that takes the
# first to come of several asynchronous scans, with postgres_fdw, too: here they
# come sooner.
sub comparable
{
	my ($text) = @_;
	my $first = qr/SELECT \* FROM async_pt t1 WHERE [^\n]* LIMIT 1;\n/;
	my $added = 0;
	my @lines;

	$text =~ s/^ +QUERY PLAN *\n-+\n.*?^\(\d+ rows?\)\n//msg if $own_plans eq 'on';
	$text =~ s/^(EXPLAIN \(ANALYZE[^\n]*\n$first).*?^\(\d+ rows\)\n/$1/ms;
	$text =~ s/^($first[^\n]*\n[^\n]*\n )[123](?=505 )/$1/m;

	foreach my $line (split(/\n/, $text))
	{
		if ($line =~ /^ +(Fetch Method|Write Method|Autocommit|Evaluated Here|Reason): /)
		{
			$added++;
			next;
		}
		$added = 0 if $line =~ s/^\((\d+) (rows?)\)$/'(' . ($1 - $added) . " $2)"/e;
		$line =~ s/^-[-+]*$/---/;
		$line =~ s/ +$//;
		$line =~ s/^ +(?=QUERY PLAN$)/ /;
		push @lines, "$line\n";
	}
	return join('', @lines);
}

# Differences whose test has not been compared yet
my %unseen;

# Compares the output of a test with the expected one.
sub compare
{
	my ($name, $folder) = @_;
	my $output = slurp_file("$folder/results/$name.out");
	my ($expected, $real) = ("$folder/$name.expected", "$folder/$name.real");
	my $title = "$name, plans of our own $own_plans";

	like($output, qr/^ +Fetch Method: /m, "$title: the plans are ours");
	is($output =~ /Batched Foreign Lookup/ ? 'on' : 'off', $own_plans, "$title: as set")
	  if $name eq 'postgres_fdw';
	append_to_file($expected, comparable(slurp_file("$work/expected/$name.out")));
	append_to_file($real, comparable($output));

	my $diff = `diff '$expected' '$real'`;
	my @parts = split(/^\d[\d,]*[acd]\d[\d,]*\n/m, $diff);
	shift @parts;
	my @listed = @{ delete $unseen{$name} };
	is(scalar(@parts), scalar(@listed), "$title: as many differences as are listed")
	  or diag($diff);
	foreach my $i (0 .. $#listed)
	{
		like($parts[$i] // '', $listed[$i]{diff}, "$title: $listed[$i]{reason}");
	}
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
# As in an instance of pg_regress.
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 2');
$node->start;

# Has PostgreSQL's program run all tests of a kind, and compares their output.
# Its own verdict does not count: EXPLAIN differs.
sub run_tests
{
	my ($program, $kind, @options) = @_;
	my $folder = "$work/$kind.$own_plans";
	my @names = map { /([^\/]+)\.$kind$/ } sort(glob("$work/*/*.$kind"));

	mkdir $folder;
	system($program, "--inputdir=$work", "--outputdir=$folder", '--bindir=',
		'--host=' . $node->host, '--port=' . $node->port, "--dbname=$kind\_$own_plans", @options, @names);
	compare($_, $folder) foreach @names;
}

foreach my $setting ('off', 'on')
{
	$own_plans = $setting;
	%unseen = %differences;
	# A setting of a library that is not loaded yet is kept until it is.
	$ENV{PGOPTIONS} = join(' ', map { "-c tollfree_postgres_fdw.$_=$setting" } @settings);
	run_tests($ENV{PG_REGRESS}, 'sql');
	run_tests(dirname($ENV{PG_REGRESS}) . '/../isolation/pg_isolation_regress',
		'spec', '--load-extension=postgres_fdw', '--load-extension=tollfree_postgres_fdw');
	is(join(' ', keys %unseen), '', "no test is missing, batches $setting");
}

done_testing();
