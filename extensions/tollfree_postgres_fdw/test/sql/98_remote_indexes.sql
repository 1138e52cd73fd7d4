-- A join that may stop early looks up rows only where that takes no more than fetching the first rows of the table.
CREATE SCHEMA indexed;
CREATE TABLE indexed.goods AS SELECT i AS id, i % 30000 AS code, i % 20 AS kind, 'g' || i AS name, i % 7000 AS "odd, na""me" FROM generate_series(1, 60000) i;
ALTER TABLE indexed.goods ADD PRIMARY KEY (id);
CREATE INDEX ON indexed.goods (kind);
CREATE INDEX ON indexed.goods ("odd, na""me") WHERE id > 0;
CREATE INDEX ON indexed.goods USING brin (code);
CREATE VIEW indexed.shown AS SELECT * FROM indexed.goods;
ANALYZE indexed.goods;
CREATE SCHEMA wanted;
SET search_path TO wanted, public;
CALL make_servers('unindexed', 1, 'fdw_tuple_cost ''0.01''');
IMPORT FOREIGN SCHEMA indexed FROM SERVER unindexed_0 INTO wanted;
ANALYZE goods, shown;
IMPORT FOREIGN SCHEMA indexed LIMIT TO (goods) FROM SERVER loopback INTO public;
ALTER FOREIGN TABLE public.goods RENAME TO never_analyzed;
CREATE TABLE picked AS SELECT i * 3 AS n FROM generate_series(1, 10000) i;
ANALYZE picked;
-- Are rows looked up by a column?
CREATE FUNCTION looks_up(col text, stop text, target text = 'goods') RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT JSON) SELECT p.n, g.name FROM picked p JOIN %s g ON g.%I = p.n %s', target, col, stop) INTO plan;
	RETURN CASE WHEN plan::text LIKE '%Batched Foreign Lookup%' THEN 'looked up' ELSE 'fetched' END;
END
$$;
CREATE VIEW joins AS
SELECT col, looks_up(col, 'LIMIT 10') AS "limit", looks_up(col, 'LIMIT 10', 'shown') AS of_view, looks_up(col, '') AS whole,
	looks_up(col, 'WHERE p.n < 60') AS whole_of_few, looks_up(col, 'ORDER BY p.n LIMIT 10') AS sorted
FROM unnest('{id,code,kind}'::text[]) col;
-- without a connection nothing is known but statistics
\c -
SET search_path TO wanted, public;
TABLE joins;
-- The next scan has the server asked behind its COMMIT; the answer comes with that of a later one.
SELECT count(*) FROM goods WHERE id = 1;
SELECT count(*) FROM (SELECT FROM joins) j;
SELECT name FROM goods WHERE id = 1 UNION ALL SELECT name FROM shown WHERE id = 1;
SELECT name FROM goods WHERE id = 1 UNION ALL SELECT name FROM shown WHERE id = 1;
TABLE joins;
-- once a connection, without waiting
SELECT round_trips AS before FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'unindexed_0' \gset
SELECT count(*) FROM goods WHERE id = 1;
SELECT count(*) FROM goods WHERE id = 2;
SELECT round_trips_since(:before, 'unindexed_0');
-- What is never analyzed may be of any size.
SET enable_hashjoin TO off;
SET enable_mergejoin TO off;
SELECT name FROM never_analyzed WHERE id = 1;
SELECT looks_up('id', 'LIMIT 10', 'never_analyzed'), looks_up('code', 'LIMIT 10', 'never_analyzed');
SELECT name FROM never_analyzed WHERE id = 1;
SELECT name FROM never_analyzed WHERE id = 1;
SELECT looks_up('id', 'LIMIT 10', 'never_analyzed'), looks_up('code', 'LIMIT 10', 'never_analyzed');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- A new connection asks again.
CREATE INDEX ON indexed.goods (code);
SELECT tollfree_postgres_fdw_disconnect('unindexed_0');
SELECT name FROM goods WHERE id = 1;
SELECT looks_up('code', 'LIMIT 10');
SELECT name FROM goods WHERE id = 1;
SELECT name FROM goods WHERE id = 1;
SELECT looks_up('code', 'LIMIT 10');
-- The first batch asks for no more rows than a cursor at first.
SET enable_hashjoin TO off;
SET enable_mergejoin TO off;
SELECT explained('SELECT p.n, g.name FROM picked p JOIN goods g ON g.id = p.n LIMIT 3', 'Keys') AS id,
	explained('SELECT p.n, g.name FROM picked p JOIN goods g ON g.code = p.n LIMIT 3', 'Keys') AS code,
	explained('SELECT p.n, (SELECT count(*) FROM goods g WHERE g.kind = p.n) FROM picked p LIMIT 3', 'Keys') AS one_row,
	explained('SELECT p.n, ARRAY(SELECT name FROM goods g WHERE g.kind = p.n % 20) FROM picked p LIMIT 3', 'Keys') AS kind,
	explained('SELECT EXISTS (SELECT FROM picked p JOIN goods g ON g.code = p.n)', 'Keys') AS "exists";
