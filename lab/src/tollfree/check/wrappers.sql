-- Which of our wrappers this server could create, and which this database has. Before one is
-- created, only superusers are sure to be able to use it.
SELECT x.name::text AS name,
       a.default_version AS available,
       a.installed_version AS installed,
       COALESCE((SELECT has_foreign_data_wrapper_privilege(w.oid, 'USAGE')
                 FROM pg_foreign_data_wrapper w WHERE w.fdwname = x.name),
                (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)) AS usable
FROM unnest(%s::text[]) x (name)
LEFT JOIN pg_available_extensions a ON a.name = x.name
ORDER BY x.name
