/*
 * connect.c
 *	  Opening a connection as postgres_fdw would.
 *
 * A user must not borrow the identity of the local server.  The checks are
 * those of postgres_fdw.  One looks at the parameters before connecting, so
 * that the local server's password files and environment are not used.  One
 * comes after connecting: the remote server must really have required the
 * credentials that the user mapping gives.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "common/base64.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/options.h"
#include "session/connection.h"
#include "session/wait.h"

/* Two application names, encoding, three for SCRAM, and the final NULL */
#define EXTRA_PARAMETERS 7

typedef struct Parameters
{
	int			count;
	const char **names;			/* NULL after the last */
	const char **values;
} Parameters;

/* Appends a parameter; libpq takes the last of several with one name. */
static void
add_parameter(Parameters *parameters, const char *name, const char *value)
{
	parameters->names[parameters->count] = name;
	parameters->values[parameters->count] = value;
	parameters->count++;
}

/* Appends the options that are parameters of libpq. */
static void
add_options(Parameters *parameters, List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (option_is_libpq(option->defname))
			add_parameter(parameters, option->defname, defGetString(option));
	}
}

/* The expansion of one escape of an application name; "" if unknown. */
static char *
expand_escape(char escape)
{
	switch (escape)
	{
		case '%':
			return "%";
		case 'a':
			return application_name ? application_name : "";
		case 'c':
			return psprintf("%llx.%x", (long long) MyStartTime, MyProcPid);
		case 'C':
			return cluster_name;
		case 'd':
			return MyProcPort == NULL ? "" : MyProcPort->database_name ?
				MyProcPort->database_name : "[unknown]";
		case 'p':
			return psprintf("%d", MyProcPid);
		case 'u':
			return MyProcPort == NULL ? "" : MyProcPort->user_name ?
				MyProcPort->user_name : "[unknown]";
		default:
			return "";
	}
}

/* Expands the escapes of an application name. */
static char *
expand_application_name(const char *name)
{
	StringInfoData expanded;

	initStringInfo(&expanded);
	for (const char *p = name; *p != '\0'; p++)
	{
		if (*p != '%')
			appendStringInfoChar(&expanded, *p);
		else if (*++p == '\0')
			break;
		else
			appendStringInfoString(&expanded, expand_escape(*p));
	}
	return expanded.data;
}

/*
 * Expands the application name that counts: the last one that is not empty after
 * expansion.  The setting of postgres_fdw comes after the server's option.
 */
static void
choose_application_name(Parameters *parameters)
{
	const char *setting = GetConfigOption("postgres_fdw.application_name",
										  true, false);

	if (setting != NULL && *setting != '\0')
		add_parameter(parameters, "application_name", setting);
	for (int i = parameters->count - 1; i >= 0; i--)
	{
		if (strcmp(parameters->names[i], "application_name") != 0 ||
			*parameters->values[i] == '\0')
			continue;
		parameters->values[i] = expand_application_name(parameters->values[i]);
		if (*parameters->values[i] != '\0')
			return;
		parameters->values[i] = NULL;
	}
}

#if PG_VERSION_NUM >= 180000
/* Encodes a SCRAM key as libpq takes it. */
static char *
encode_key(const uint8 *key, int length, const char *which)
{
	int			size = pg_b64_enc_len(length);
	char	   *encoded = palloc0(size + 1);

	if (pg_b64_encode((const void *) key, length, encoded, size) < 0)
		elog(ERROR, "could not encode SCRAM %s key", which);
	return encoded;
}

/*
 * Appends the SCRAM keys of the client's own authentication if they are to be
 * passed on; false if not.  With them no other authentication method is allowed.
 */
static bool
add_scram_keys(Parameters *parameters, ForeignServer *server, UserMapping *user)
{
	bool		passes = option_is_true(user->options, "use_scram_passthrough",
										option_is_true(server->options,
													   "use_scram_passthrough",
													   false));

	if (MyProcPort == NULL || !MyProcPort->has_scram_keys || !passes)
		return false;
	add_parameter(parameters, "scram_client_key",
				  encode_key((const uint8 *) MyProcPort->scram_ClientKey,
							 sizeof(MyProcPort->scram_ClientKey), "client"));
	add_parameter(parameters, "scram_server_key",
				  encode_key((const uint8 *) MyProcPort->scram_ServerKey,
							 sizeof(MyProcPort->scram_ServerKey), "server"));
	add_parameter(parameters, "require_auth", "scram-sha-256");
	return true;
}
#else
static bool
add_scram_keys(Parameters *parameters, ForeignServer *server, UserMapping *user)
{
	return false;
}
#endif

/* Is there a password among the parameters? */
static bool
has_password(const Parameters *parameters)
{
	for (int i = 0; i < parameters->count; i++)
	{
		if (strcmp(parameters->names[i], "password") == 0 &&
			*parameters->values[i] != '\0')
			return true;
	}
	return false;
}

/* Does the mapping's user need credentials of its own? */
static bool
needs_credentials(UserMapping *user)
{
	return !superuser_arg(user->userid) &&
		option_is_true(user->options, "password_required", true);
}

/* Raises an ERROR if connecting could use the local server's credentials. */
static void
check_before(const Parameters *parameters, UserMapping *user, bool scram)
{
	if (needs_credentials(user) && !has_password(parameters) && !scram &&
		!compat_has_delegation())
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("%s", COMPAT_NO_PASSWORD),
				 errdetail("%s", COMPAT_PASSWORD_MISSING)));
	for (int i = 0; i < parameters->count; i++)
		compat_check_proxy_option(parameters->names[i]);
}

/*
 * Raises an ERROR if the remote server accepted the connection without the
 * user's own credentials, where they are needed.
 */
static void
check_after(PGconn *conn, const Parameters *parameters, UserMapping *user,
			bool scram)
{
	if (!needs_credentials(user) || scram || compat_used_delegation(conn))
		return;
	if (PQconnectionUsedPassword(conn) && has_password(parameters))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("%s", COMPAT_NO_PASSWORD),
			 errdetail("%s", COMPAT_PASSWORD_UNUSED),
			 errhint("Target server's authentication method must be changed or password_required=false set in the user mapping attributes.")));
}

/*
 * Connects.  Raises an ERROR if that fails or is not allowed.  The caller owns
 * the connection and ends it with libpqsrv_disconnect.
 */
PGconn *
connect_open(ForeignServer *server, UserMapping *user)
{
	int			limit = list_length(server->options) +
		list_length(user->options) + EXTRA_PARAMETERS;
	Parameters	parameters = {0};
	PGconn	   *conn;
	bool		scram;

	parameters.names = palloc0(limit * sizeof(char *));
	parameters.values = palloc0(limit * sizeof(char *));
	add_options(&parameters, server->options);
	add_options(&parameters, user->options);
	choose_application_name(&parameters);
	add_parameter(&parameters, "fallback_application_name",
				  "tollfree_postgres_fdw");
	add_parameter(&parameters, "client_encoding", GetDatabaseEncodingName());
	scram = add_scram_keys(&parameters, server, user);
	check_before(&parameters, user, scram);

	conn = compat_connect(parameters.names, parameters.values,
						  wait_event(WAIT_CONNECT));
	PG_TRY();
	{
		if (conn == NULL || PQstatus(conn) != CONNECTION_OK)
			ereport(ERROR,
					(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
					 errmsg("could not connect to server \"%s\"",
							server->servername),
					 errdetail_internal("%s", pchomp(PQerrorMessage(conn)))));
		check_after(conn, &parameters, user, scram);
	}
	PG_CATCH();
	{
		libpqsrv_disconnect(conn);
		PG_RE_THROW();
	}
	PG_END_TRY();
	return conn;
}
