# Subscriptions that connect to a server of ours, from PostgreSQL 19 on: over adopt
# and release, and with a wrapper that has come by pg_upgrade from before 19.  And
# what the remote server says without an error, which goes to the log there.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($major) = `pg_config --version` =~ /^PostgreSQL (\d+)/;
plan skip_all => 'PostgreSQL 19 is the first to have subscriptions to servers' if $major < 19;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init;
$subscriber->start;

my ($host, $port) = ($publisher->host, $publisher->port);
$publisher->safe_psql('postgres', <<'END');
CREATE TABLE goods (id int PRIMARY KEY);
INSERT INTO goods VALUES (1);
CREATE PUBLICATION goods FOR TABLE goods;
CREATE FUNCTION chat() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'hello from afar'; RETURN 1; END $$;
CREATE VIEW chats AS SELECT chat() AS id;
END
$subscriber->safe_psql('postgres', <<"END");
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE TABLE goods (id int PRIMARY KEY);
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE SUBSCRIPTION goods SERVER far PUBLICATION goods;
END
$subscriber->wait_for_subscription_sync($publisher, 'goods');

# A row that is published arrives, also after the connection was made anew.
my $last = 1;

sub replicates
{
	my ($when) = @_;

	$last++;
	$publisher->safe_psql('postgres', "INSERT INTO goods VALUES ($last)");
	$publisher->wait_for_catchup('goods');
	$subscriber->safe_psql('postgres', $_)
	  foreach ('ALTER SUBSCRIPTION goods DISABLE', 'ALTER SUBSCRIPTION goods ENABLE', 'ALTER SUBSCRIPTION goods REFRESH PUBLICATION');
	$last++;
	$publisher->safe_psql('postgres', "INSERT INTO goods VALUES ($last)");
	$publisher->wait_for_catchup('goods');
	is($subscriber->safe_psql('postgres', 'SELECT max(id), count(*) FROM goods'), "$last|$last", "rows are replicated $when");
}

replicates('through postgres_fdw');
$subscriber->safe_psql('postgres', q{SELECT tollfree_postgres_fdw_adopt('far')});
replicates('after adopt');
$subscriber->safe_psql('postgres', q{SELECT tollfree_postgres_fdw_release('far')});
replicates('after release');

# Wrappers that pg_upgrade brings along have no CONNECTION function.
sub refuses
{
	my ($wrapper, $function, $remedy) = @_;

	$subscriber->safe_psql('postgres', "ALTER FOREIGN DATA WRAPPER $wrapper NO CONNECTION");
	my ($status, undef, $error) = $subscriber->psql('postgres', "SELECT $function('far')");
	like($error, qr/ERROR:  subscription "goods" could not connect to server "far" of $wrapper\n.*\nHINT:  .*: \Q$remedy\E$/s,
		"$function refuses to break a subscription");
}

refuses('tollfree_postgres_fdw', 'tollfree_postgres_fdw_adopt',
	'ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw CONNECTION tollfree_postgres_fdw_connection;');
$subscriber->safe_psql('postgres', 'ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw CONNECTION tollfree_postgres_fdw_connection');
$subscriber->safe_psql('postgres', q{SELECT tollfree_postgres_fdw_adopt('far')});
replicates('after the hint was followed');
refuses('postgres_fdw', 'tollfree_postgres_fdw_release', 'ALTER EXTENSION postgres_fdw UPDATE;');
$subscriber->safe_psql('postgres', 'ALTER FOREIGN DATA WRAPPER postgres_fdw CONNECTION postgres_fdw_connection');

# A subscription that is made to a server of ours.
$subscriber->safe_psql('postgres', "ALTER SUBSCRIPTION goods CONNECTION 'host=$host port=$port dbname=postgres'");
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION goods SERVER far');
replicates('after ALTER SUBSCRIPTION ... SERVER');
my ($status, undef, $error) = $subscriber->psql('postgres', <<'END');
ALTER SERVER far OPTIONS (ADD use_scram_passthrough 'true');
ALTER SUBSCRIPTION goods REFRESH PUBLICATION;
END
like($error, qr/ERROR:  SCRAM pass-through authentication is not supported/, 'as through postgres_fdw');
$subscriber->safe_psql('postgres', 'ALTER SERVER far OPTIONS (DROP use_scram_passthrough)');

# Notices, through each wrapper
foreach my $wrapper ('postgres_fdw', 'tollfree_postgres_fdw')
{
	my $before = -s $subscriber->logfile;
	$subscriber->safe_psql('postgres', <<"END");
CREATE SERVER chatty FOREIGN DATA WRAPPER $wrapper OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER chatty;
CREATE FOREIGN TABLE chats (id int) SERVER chatty;
SELECT * FROM chats;
DROP SERVER chatty CASCADE;
END
	like(slurp_file($subscriber->logfile, $before), qr/LOG:  received message via remote connection: NOTICE:  hello from afar$/m,
		"a notice goes to the log through $wrapper");
}

$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION goods');
done_testing();
