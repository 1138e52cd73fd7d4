/*
 * What stands in the database that holds the tables: the truth about them.
 */
CREATE TABLE truth
(
	table_name	text NOT NULL,
	attname		name NOT NULL,
	n_distinct	float8 NOT NULL,
	correlation	float8 NOT NULL,	/* of place and value */
	even_to		float8,				/* values are spread evenly up to here */
	PRIMARY KEY (table_name, attname)
);

CREATE TABLE truth_frequencies
(
	table_name	text NOT NULL,
	value		int8 NOT NULL,
	frequency	float8 NOT NULL,	/* share of the rows */
	PRIMARY KEY (table_name, value)
);

/*
 * Makes a table: rows of about 215 bytes with a key, evenly spread values in
 * random order, few values of which some are common, and values that neighbours
 * have in common.  The truth about it comes last, so that it says that the
 * table is whole.
 */
CREATE PROCEDURE make_rows(name text, row_count int8)
LANGUAGE plpgsql
AS $$
DECLARE
	filled		text := 'rows_' || name;
BEGIN
	PERFORM setseed(0.5);
	EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', filled);
	EXECUTE format('CREATE TABLE %I (id int8, uniform int, skewed int, clustered int, filler text)'
				   ' WITH (autovacuum_enabled = off)', filled);
	EXECUTE format('INSERT INTO %I SELECT i, floor(random() * $1 / 10), floor(1000 * random() ^ 4),'
				   ' i / 100, repeat(md5(i::text), 5) FROM generate_series(1, $1) AS i', filled)
		USING row_count;
	EXECUTE format('INSERT INTO truth_frequencies'
				   ' SELECT $2, skewed, count(*)::float8 / $1 FROM %I GROUP BY skewed', filled)
		USING row_count, name;
	/*
	 * Equal values are ranked in the order of their places, which makes a
	 * correlation even where there is none: the sum of the squared frequencies.
	 */
	EXECUTE format('INSERT INTO truth'
				   ' SELECT $2, ''id'', $1, 1, $1 UNION ALL'
				   ' SELECT $2, ''clustered'', $1 / 100 + 1, 1, $1 / 100 UNION ALL'
				   ' SELECT $2, ''uniform'', count(DISTINCT uniform), 0, $1 / 10 FROM %I UNION ALL'
				   ' SELECT $2, ''skewed'', count(*), sum(frequency ^ 2), NULL'
				   ' FROM truth_frequencies WHERE table_name = $2', filled)
		USING row_count, name;
END
$$;
