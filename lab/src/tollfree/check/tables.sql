-- The foreign tables of those servers. `row_estimate` is null until the table has been analyzed.
SELECT n.nspname::text AS schema,
       c.relname::text AS name,
       format('%%I.%%I', n.nspname, c.relname) AS qualified,
       s.srvname::text AS server,
       COALESCE((SELECT jsonb_object_agg(option_name, option_value)
                 FROM pg_options_to_table(t.ftoptions)), '{}') AS options,
       NULLIF(c.reltuples, -1)::float8 AS row_estimate,
       GREATEST(pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid))
           AS analyzed,
       EXTRACT(epoch FROM now() - GREATEST(pg_stat_get_last_analyze_time(c.oid),
                                           pg_stat_get_last_autoanalyze_time(c.oid)))::float8
           / 86400 AS analyzed_days_ago,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
           AS readable,
       pg_get_userbyid(c.relowner)::text AS owner,
       pg_has_role(c.relowner, 'USAGE') AS owned
FROM pg_foreign_table t
JOIN pg_class c ON c.oid = t.ftrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_foreign_server s ON s.oid = t.ftserver
JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
WHERE w.fdwname = ANY (%s)
ORDER BY n.nspname, c.relname
