/*
 * What stands in every database that cases of the suite are measured in.
 */
CREATE FUNCTION start_clock() RETURNS void
LANGUAGE sql
AS $$
	SELECT set_config('sampling.began', clock_timestamp()::text, false)
$$;

CREATE FUNCTION stop_clock() RETURNS void
LANGUAGE sql
AS $$
	SELECT set_config('sampling.ms',
					  (1000 * extract(epoch FROM clock_timestamp()
									  - current_setting('sampling.began')::timestamptz))::text,
					  false)
$$;

/* Returns the duration of a sample and its number of rows. */
CREATE FUNCTION sample_figures() RETURNS jsonb
LANGUAGE sql
AS $$
	SELECT jsonb_build_object('ms', current_setting('sampling.ms')::float8,
							  'rows', current_setting('sampling.rows')::int8)
$$;

/*
 * Returns the duration of an ANALYZE and how good its statistics are:
 *
 *	distinct_*			distinct values of a column, estimated to real ones
 *	frequency_error		mean relative error of the ten most common values'
 *						frequencies, in the column "skewed"
 *	histogram_error		largest distance between a histogram bound's place and
 *						its quantile, in columns of evenly distributed values
 *	correlation_error	largest error of a correlation
 */
CREATE FUNCTION analyze_figures(analyzed regclass, of_table text) RETURNS jsonb
LANGUAGE sql
AS $$
	WITH collected AS MATERIALIZED (
		SELECT s.attname, s.correlation, c.reltuples,
			   CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples
					ELSE s.n_distinct END AS estimated,
			   s.most_common_vals::text::text[]::int8[] AS common,
			   s.most_common_freqs AS frequencies,
			   s.histogram_bounds::text::text[]::int8[] AS bounds
		FROM pg_class c
			JOIN pg_stats s ON s.tablename = c.relname
				AND s.schemaname = c.relnamespace::regnamespace::name
		WHERE c.oid = analyzed AND s.attname <> 'filler'
	), known AS MATERIALIZED (
		SELECT * FROM truth WHERE table_name = of_table
	)
	SELECT jsonb_build_object(
		'ms', current_setting('sampling.ms')::float8,
		'rows', (SELECT reltuples FROM pg_class WHERE oid = analyzed),
		'columns', (SELECT count(*) FROM pg_statistic WHERE starelid = analyzed),
		'frequency_error',
			(SELECT avg(abs(v.frequency - t.frequency) / t.frequency)
			 FROM collected,
				 LATERAL unnest(common, frequencies) WITH ORDINALITY AS v (value, frequency, place)
				 JOIN truth_frequencies t USING (value)
			 WHERE attname = 'skewed' AND t.table_name = of_table AND place <= 10),
		'histogram_error',
			(SELECT max(abs(b.bound::float8 / k.even_to
							- (b.place - 1.0) / (array_length(c.bounds, 1) - 1)))
			 FROM collected c
				 JOIN known k USING (attname),
				 LATERAL unnest(c.bounds) WITH ORDINALITY AS b (bound, place)
			 WHERE k.even_to IS NOT NULL),
		'correlation_error',
			(SELECT max(abs(c.correlation - k.correlation))
			 FROM collected c JOIN known k USING (attname)))
		|| (SELECT jsonb_object_agg('distinct_' || attname, estimated / k.n_distinct)
			FROM collected JOIN known k USING (attname)
			WHERE attname <> 'id')
$$;
