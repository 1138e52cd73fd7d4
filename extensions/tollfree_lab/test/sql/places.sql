-- Where servers are, in paths that have to be quoted.
BEGIN;
SET search_path = lab;

CREATE TEMP TABLE folders (folder text);
INSERT INTO folders VALUES ('/run/lab'), ('/run/a lab'), ('/run/it''s'), ('/run/a\b');

SELECT folder, conninfo_value(folder) AS value,
	   fdw_bulk_word(conninfo_value(folder)) AS in_copy,
	   fdw_psql_word(conninfo_value(folder)) AS in_psql
FROM folders;

UPDATE instances SET socket_host = '/run/it''s a lab', tcp_host = '127.0.0.1',
	port = 25432
WHERE instance = 'source';
SELECT socket_conninfo('source', 'source');
SELECT link, link_conninfo(link, 'source') FROM links
WHERE link IN ('lcl:ipc', 'lcl:tcp') ORDER BY link;

-- other servers have roads of their own
UPDATE instances SET tcp_host = '127.0.0.1', port = 25440 WHERE instance = 'second';
UPDATE links SET port = 25433 WHERE link = 'rmt:tcp:1000us';
UPDATE other_links SET port = 25441 WHERE (link, instance) = ('rmt:tcp:1000us', 'second');
SELECT * FROM roads WHERE instance IN ('source', 'second') AND link IN ('lcl:tcp', 'rmt:tcp:1000us')
ORDER BY instance, link;

ROLLBACK;
