# From 0.1.0 to this version: the library serves the former SQL objects, and
# ALTER EXTENSION makes them what CREATE EXTENSION does.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my ($host, $port) = ($node->host, $node->port);

# What the extension in a database consists of: its members with their text,
# comment and rights, and what depends on what.  No OIDs, and defaults only as
# text: pg_proc has their place in the script.
my $contents = <<'END';
CREATE TEMP TABLE members AS
SELECT classid, objid, pg_describe_object(classid, objid, 0) AS name
FROM pg_depend d JOIN pg_extension e ON refobjid = e.oid
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = 'tollfree_postgres_fdw';

SELECT 'extension', extversion, extrelocatable, extnamespace::regnamespace, extconfig, extcondition,
	obj_description(oid, 'pg_extension')
FROM pg_extension WHERE extname = 'tollfree_postgres_fdw';
SELECT name, obj_description(objid, classid::regclass::name) FROM members ORDER BY name;
SELECT name, initprivs, privtype FROM members JOIN pg_init_privs i ON objid = objoid AND classid = classoid
ORDER BY name;
SELECT name, pg_get_functiondef(objid), to_jsonb(p) - '{oid,proargdefaults}'::text[]
FROM members JOIN pg_proc p ON objid = p.oid AND classid = 'pg_proc'::regclass
ORDER BY name;
SELECT name, relkind, relowner::regrole, relacl, reloptions, pg_get_viewdef(objid),
	(SELECT array_agg(format('%s %s %s', attname, format_type(atttypid, atttypmod),
							 col_description(objid, attnum)) ORDER BY attnum)
	 FROM pg_attribute WHERE attrelid = objid AND attnum > 0)
FROM members JOIN pg_class c ON objid = c.oid AND classid = 'pg_class'::regclass
ORDER BY name;
SELECT name, fdwowner::regrole, fdwhandler::regprocedure, fdwvalidator::regprocedure, fdwacl, fdwoptions
FROM members JOIN pg_foreign_data_wrapper w ON objid = w.oid AND classid = 'pg_foreign_data_wrapper'::regclass;
INSERT INTO members SELECT 'pg_extension'::regclass, oid, 'extension'
FROM pg_extension WHERE extname = 'tollfree_postgres_fdw';
SELECT pg_describe_object(classid, objid, objsubid),
	pg_describe_object(refclassid, refobjid, refobjsubid), deptype
FROM pg_depend
WHERE (classid, objid) IN (SELECT classid, objid FROM members)
	OR (refclassid, refobjid) IN (SELECT classid, objid FROM members)
ORDER BY 1, 2, 3;
END

# Calls every function of the extension that can be called.
my $use = <<'END';
SELECT tollfree_postgres_fdw_release('far');
SELECT tollfree_postgres_fdw_adopt('far');
SELECT 'rows', count(*) FROM far_goods;
SELECT server_name, connects, rows, autocommit_scans IS NOT NULL FROM tollfree_postgres_fdw_statistics();
SELECT server_name, valid, remote_backend_pid > 0 FROM tollfree_postgres_fdw_get_connections();
SELECT tollfree_postgres_fdw_disconnect('far');
SELECT tollfree_postgres_fdw_disconnect_all();
END

sub create
{
	my ($database, $version) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION postgres_fdw');
	$node->safe_psql($database, "CREATE EXTENSION tollfree_postgres_fdw $version");
}

create('fresh', '');
create('upgraded', "VERSION '0.1.0'");
$node->safe_psql('upgraded', <<"END");
CREATE TABLE goods AS SELECT 1 AS id;
CREATE SERVER far FOREIGN DATA WRAPPER tollfree_postgres_fdw
	OPTIONS (host '$host', port '$port', dbname 'upgraded');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE FOREIGN TABLE far_goods (id int) SERVER far OPTIONS (table_name 'goods');
END

# All of them but the wrapper's own, which PostgreSQL calls.
my $uncalled = <<"END";
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON objid = p.oid
JOIN pg_extension e ON refobjid = e.oid
WHERE classid = 'pg_proc'::regclass AND deptype = 'e' AND extname = 'tollfree_postgres_fdw'
	AND proname !~ '_(handler|validator|connection)\$' AND \$\$$use\$\$ !~ (proname || '\\(')
END
is($node->safe_psql('upgraded', $uncalled), '', 'every function of 0.1.0 is called here');

my $results = <<'END';
rows|1
far|1|1|t
far|t|t
t
f
END
chomp($results);

# Functions of type void print an empty line.
sub test_use
{
	my ($when) = @_;

	is($node->safe_psql('upgraded', $use) =~ s/^\n//mgr, $results, "the functions $when ALTER EXTENSION");
}

test_use('before');
is( $node->safe_psql('upgraded', "SELECT id FROM far_goods;
		SELECT rows, flights > 0, answers_ahead FROM tollfree_postgres_fdw_statistics()"),
	"1\n1|t|", 'columns have what they had; one that this version does not have is null');
$node->safe_psql('upgraded', 'ALTER EXTENSION tollfree_postgres_fdw UPDATE');
test_use('after');

# What depends on the extension is listed, too.
$node->safe_psql('upgraded', 'DROP SERVER far CASCADE');
is_deeply(
	[ split(/\n/, $node->safe_psql('upgraded', $contents)) ],
	[ split(/\n/, $node->safe_psql('fresh', $contents)) ],
	'what ALTER EXTENSION makes is what CREATE EXTENSION does');

done_testing();
