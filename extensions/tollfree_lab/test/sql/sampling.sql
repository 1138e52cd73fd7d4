--
-- Suite sampling: what is crossed with what
--
SET search_path = lab;

-- every method of a wrapper that has them all; one more table,
-- one more row; the largest only when it is asked for
SELECT profile, dims->>'test' AS test, dims->>'wrapper' AS road, count(*),
	   count(*) FILTER (WHERE chosen) AS chosen
FROM testcases WHERE suite = 'sampling' AND dims->>'wrapper' <> 'postgres_fdw'
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT bool_or(chosen) FROM testcases WHERE suite = 'sampling' AND dims->>'table' = '100m';
-- of a full run: the links, and the shares, some only in the instance itself
SELECT dims->>'link' AS link, count(*) FILTER (WHERE profile = 'quick') AS quick,
	   count(*) FILTER (WHERE profile = 'full') AS full,
	   array_agg(DISTINCT (dims->>'percent')::numeric)
	   FILTER (WHERE profile = 'full' AND dims->>'method' = 'system') AS shares
FROM testcases WHERE suite = 'sampling' AND chosen AND dims->>'wrapper' ~ '^(direct|tollfree_postgres)'
GROUP BY 1 ORDER BY 1;
SELECT DISTINCT dims->>'method' AS method FROM testcases
WHERE suite = 'sampling' AND dims->>'test' = 'analyze' AND dims->>'wrapper' = 'tollfree_postgres_fdw'
ORDER BY 1;
SELECT count(DISTINCT dims->>'method')
	   = CASE WHEN current_setting('server_version_num')::int < 160000 THEN 1 ELSE 5 END
	   AS as_many_as_it_has
FROM testcases WHERE suite = 'sampling' AND dims->>'test' = 'analyze' AND dims->>'wrapper' = 'postgres_fdw';
BEGIN;
INSERT INTO sampling_tables VALUES ('20m', 2e7, false, true);
SELECT count(*) = (SELECT count(*) FROM testcases WHERE suite = 'sampling' AND dims->>'table' = '10m') AS as_many
FROM testcases WHERE suite = 'sampling' AND dims->>'table' = '20m';
ROLLBACK;
