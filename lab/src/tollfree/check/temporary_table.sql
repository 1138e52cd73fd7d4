-- The command that makes a foreign table of the same name, columns and options on another server, in
-- the temporary schema, where a name without a schema finds it first. One of a remote server is not
-- updatable: a READ ONLY transaction may write temporary tables.
SELECT format('CREATE FOREIGN TABLE pg_temp.%%I (%%s) SERVER %%I OPTIONS (%%s)', c.relname,
              (SELECT string_agg(
                   format('%%I %%s', a.attname, format_type(a.atttypid, a.atttypmod))
                   || COALESCE((SELECT ' OPTIONS (' || string_agg(format('%%I %%L', option_name,
                                                                         option_value), ', ') || ')'
                                FROM pg_options_to_table(a.attfdwoptions)), '')
                   || COALESCE((SELECT format(' COLLATE %%I.%%I', n.nspname, l.collname)
                                FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
                                WHERE l.oid = a.attcollation), '')
                   || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
                   ', ' ORDER BY a.attnum)
               FROM pg_attribute a
               WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
              %s::text,
              (SELECT string_agg(format('%%I %%L', key, value), ', ')
               FROM jsonb_each_text(jsonb_build_object('schema_name', n.nspname,
                                                       'table_name', c.relname)
                                    || COALESCE(o.options, '{}') || '{"updatable": "false"}')
               WHERE w.fdwname = 'postgres_fdw' OR o.options ? key))
       AS command
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_foreign_table t ON t.ftrelid = c.oid
JOIN pg_foreign_server s ON s.oid = t.ftserver
JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
CROSS JOIN LATERAL (SELECT jsonb_object_agg(option_name, option_value) AS options
                    FROM pg_options_to_table(t.ftoptions)) o
WHERE (n.nspname, c.relname) = (%s, %s)
