-- The remote database as a careful owner has it: the user that both wrappers connect as may use its
-- tables, and learn nothing of it from the catalogs. Executed behind remote.sql.

CREATE ROLE hardened LOGIN;
GRANT ALL ON ALL TABLES IN SCHEMA public TO hardened;
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO hardened;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO hardened;

-- What these do is the owner's business.
ALTER FUNCTION make_shape() SECURITY DEFINER SET search_path = public;
ALTER FUNCTION reshape(integer) SECURITY DEFINER SET search_path = public;

REVOKE SELECT ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION pg_catalog.current_setting(text), pg_catalog.current_setting(text, boolean),
    pg_catalog.set_config(text, text, boolean), pg_catalog.pg_current_xact_id_if_assigned(),
    pg_catalog.pg_current_snapshot(), pg_catalog.unnest(anyarray),
    pg_catalog.hashtidextended(tid, bigint), pg_catalog.has_table_privilege(oid, text) FROM PUBLIC;
-- postgres_fdw's ANALYZE needs these, from 16 on.
GRANT SELECT (oid, reltuples, relkind) ON pg_catalog.pg_class TO hardened;
