/*
 * Where the lab's servers and links are.  The lab fills in addresses when it
 * starts; a NULL address means that it is not up.
 */
CREATE TABLE instances
(
	instance	text PRIMARY KEY,
	socket_host	text,
	tcp_host	text,
	port		int,
	passfile	text,
	certificate	text,
	pid			int
);

COMMENT ON COLUMN instances.tcp_host IS 'NULL when it has no TCP listener';
COMMENT ON COLUMN instances.certificate IS
'path of its certificate, which is its own authority; NULL when it has no TLS';
COMMENT ON COLUMN instances.pid IS 'of its first process, the postmaster';

/* Those behind the first two run only while a suite needs them. */
INSERT INTO instances (instance) VALUES
	('source'), ('external'), ('second'), ('coordinator'), ('worker_1'), ('worker_2');

/*
 * The roads to the instance "source".  A link with a round trip runs through
 * a proxy that delays and counts.
 */
CREATE TABLE links
(
	link		text PRIMARY KEY,
	transport	text NOT NULL CHECK (transport IN ('ipc', 'tcp')),
	rtt_us		int CHECK (rtt_us BETWEEN 0 AND 40000),
	for_transactions bool NOT NULL DEFAULT true,
	in_quick	bool NOT NULL DEFAULT true,
	port		int,
	control		text,
	CHECK (transport = 'tcp' OR rtt_us IS NULL)
);

COMMENT ON COLUMN links.rtt_us IS
'requested round trip in microseconds; NULL where there is no proxy';
COMMENT ON COLUMN links.control IS
'path of the socket where the proxy answers what it counted';

COMMENT ON COLUMN links.for_transactions IS
'whether transactions are timed over it; on a long one their time is the number of their flights';
COMMENT ON COLUMN links.in_quick IS
'whether a quick run times transactions over it';

INSERT INTO links (link, transport, rtt_us, for_transactions, in_quick) VALUES
	('lcl:ipc', 'ipc', NULL, true, true),
	('lcl:tcp', 'tcp', NULL, true, true),
	('rmt:tcp:100us', 'tcp', 100, false, false),
	('rmt:tcp:200us', 'tcp', 200, true, false),
	('rmt:tcp:1000us', 'tcp', 1000, true, true),
	('rmt:tcp:2000us', 'tcp', 2000, true, false),
	('rmt:tcp:20000us', 'tcp', 20000, false, false),
	('rmt:tcp:40000us', 'tcp', 40000, false, false);

/* The same roads to other instances, each with a proxy of its own. */
CREATE TABLE other_links
(
	link		text REFERENCES links,
	instance	text REFERENCES instances,
	port		int,
	control		text,
	PRIMARY KEY (link, instance)
);

COMMENT ON COLUMN other_links.port IS 'NULL where there is no proxy, or it is not up';

/* Where to connect to for an instance over a link, and what counts there. */
CREATE VIEW roads AS
SELECT x.link, x.instance, i.tcp_host, coalesce(x.port, i.port) AS port, x.control
FROM (SELECT link, 'source' AS instance, port, control
	  FROM links
	  WHERE transport = 'tcp'
	  UNION ALL
	  TABLE other_links) x
	JOIN instances i USING (instance);

/* Returns a value as a connection string has it: quoted where it has to be. */
CREATE FUNCTION conninfo_value(value text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN value ~ '[[:space:]''\\]'
	   THEN '''' || regexp_replace(value, '([''\\])', '\\\1', 'g') || ''''
	   ELSE value END;

/* Returns the connection string to a database of an instance over its socket. */
CREATE FUNCTION socket_conninfo(instance_name text, dbname text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT format('host=%s port=%s user=postgres dbname=%s',
				  conninfo_value(socket_host), port, dbname)
	FROM instances WHERE instance = instance_name;
END;

/*
 * Returns a psql which prints bare values and stops at an error; its commands
 * are to follow.
 */
CREATE FUNCTION psql_words(conninfo text)
RETURNS text[]
LANGUAGE sql IMMUTABLE
RETURN ARRAY['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', conninfo];

/* The same in a database of an instance, over its socket. */
CREATE FUNCTION psql_words(instance_name text, dbname text)
RETURNS text[]
LANGUAGE sql STABLE
RETURN psql_words(socket_conninfo(instance_name, dbname));

/*
 * Returns psql's command that prints a word, and what a link has counted so far;
 * NULL for a link that does not count.
 */
CREATE FUNCTION link_asked(control text, word text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN '\echo ' || word || ' `tollfree-link --control '
	|| '''' || replace(control, '''', '''\''''') || '''' || ' --ask stats`';

/*
 * Returns the connection string to a database of "source" over a link; without
 * TLS, also when a suite has made the server offer it.
 */
CREATE FUNCTION link_conninfo(link_name text, dbname text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT format('host=%s port=%s user=postgres dbname=%s sslmode=disable',
				  conninfo_value(CASE transport WHEN 'ipc' THEN socket_host
								 ELSE tcp_host END),
				  coalesce(l.port, i.port), dbname)
	FROM links l CROSS JOIN instances i
	WHERE l.link = link_name AND i.instance = 'source';
END;
