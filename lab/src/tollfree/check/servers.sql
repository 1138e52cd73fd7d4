-- The servers of both stock wrappers and of ours, as far as this user may see them.
SELECT s.srvname::text AS name,
       w.fdwname::text AS wrapper,
       pg_get_userbyid(s.srvowner)::text AS owner,
       COALESCE((SELECT jsonb_object_agg(option_name, option_value)
                 FROM pg_options_to_table(s.srvoptions)), '{}') AS options,
       has_server_privilege(s.oid, 'USAGE') AS usable,
       pg_has_role(s.srvowner, 'USAGE') AS owned,
       has_foreign_data_wrapper_privilege(w.oid, 'USAGE') AS wrapper_usable,
       EXISTS (SELECT FROM pg_user_mappings m
               WHERE m.srvid = s.oid
                 AND m.umuser IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user)))
           AS mapped
FROM pg_foreign_server s
JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
WHERE w.fdwname = ANY (%s)
ORDER BY s.srvname
