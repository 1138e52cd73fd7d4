CREATE FUNCTION tollfree_postgres_fdw_handler()
RETURNS fdw_handler
LANGUAGE C STRICT
AS 'MODULE_PATHNAME';

CREATE FUNCTION tollfree_postgres_fdw_validator(text[], oid)
RETURNS void
LANGUAGE C STRICT
AS 'MODULE_PATHNAME';

CREATE FOREIGN DATA WRAPPER tollfree_postgres_fdw
	HANDLER tollfree_postgres_fdw_handler
	VALIDATOR tollfree_postgres_fdw_validator;

/*
 * What a subscription to a server connects with.  PostgreSQL calls it from 19 on; it
 * is there before, so that pg_upgrade brings it along.
 */
CREATE FUNCTION tollfree_postgres_fdw_connection(oid, oid, internal)
RETURNS text
LANGUAGE C STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

DO $do$
BEGIN
	IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 190000 THEN
		EXECUTE 'ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw
			CONNECTION tollfree_postgres_fdw_connection';
	END IF;
END
$do$;

