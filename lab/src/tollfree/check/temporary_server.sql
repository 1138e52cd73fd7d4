-- Makes a server as the one named in tollfree_check.server is, but of another wrapper, and the user
-- mapping that this user has there, if there is one. All in the server, and nothing of it in an
-- error's context: so no password comes to the client or into the log.
DO $$
DECLARE
	server		pg_foreign_server;
	mapping		text[];
	copy		text := current_setting('tollfree_check.copy');
BEGIN
	SELECT * INTO STRICT server FROM pg_foreign_server
	WHERE srvname = current_setting('tollfree_check.server');
	EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER %I ', copy,
				   current_setting('tollfree_check.wrapper'))
		|| (SELECT coalesce('OPTIONS (' || string_agg(format('%I %L', option_name, option_value),
													  ', ') || ')', '')
			FROM pg_options_to_table(server.srvoptions));

	SELECT umoptions INTO mapping FROM pg_user_mappings
	WHERE srvid = server.oid
	  AND umuser IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
	ORDER BY umuser DESC LIMIT 1;
	IF FOUND THEN
		EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I ', copy)
			|| (SELECT coalesce('OPTIONS (' || string_agg(format('%I %L', option_name,
																 option_value), ', ') || ')', '')
				FROM pg_options_to_table(mapping));
	END IF;
EXCEPTION WHEN OTHERS THEN
	RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
END
$$
