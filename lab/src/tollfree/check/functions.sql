-- What functions of these names are: PostgreSQL's own, of an extension, and when their values change.
SELECT p.proname::text AS name, bool_and(p.oid >= 10000) AS is_other, min(e.extname)::text AS extension,
       bool_or(p.provolatile = 'v') AS is_volatile, bool_and(p.provolatile <> 'i') AS is_changing
FROM pg_proc p
LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
    AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE p.proname = ANY (%s)
GROUP BY p.proname
ORDER BY is_other DESC, is_volatile DESC, is_changing DESC, p.proname
