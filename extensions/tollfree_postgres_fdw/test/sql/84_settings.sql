-- Settings: whose they are. A switch between two ways is anybody's; how long a backend heeds
-- no interrupt is not.
LOAD 'tollfree_postgres_fdw';
SELECT name, context, setting, min_val, max_val FROM pg_settings
WHERE name LIKE 'tollfree\_postgres\_fdw.%' AND (vartype <> 'bool' OR context <> 'user')
ORDER BY name;
SET tollfree_postgres_fdw.cleanup_timeout = '1min';
\set VERBOSITY sqlstate
SET tollfree_postgres_fdw.cleanup_timeout = '61s';
\set VERBOSITY default
RESET tollfree_postgres_fdw.cleanup_timeout;
CREATE ROLE regress_tollfree_setter;
SET ROLE regress_tollfree_setter;
SET tollfree_postgres_fdw.cleanup_timeout = '1min';
RESET ROLE;

-- nor if it was set before there was a setting of that name
\c -
SET ROLE regress_tollfree_setter;
SET tollfree_postgres_fdw.cleanup_timeout = '1min';
RESET ROLE;
LOAD 'tollfree_postgres_fdw';
SHOW tollfree_postgres_fdw.cleanup_timeout;
DROP ROLE regress_tollfree_setter;
