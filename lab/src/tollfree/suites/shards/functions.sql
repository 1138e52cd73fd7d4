/*
 * What stands in every database that cases of the suite are measured in.
 *
 * Returns the milliseconds that a PL/pgSQL statement takes, executed so often
 * with n from 1 on.
 */
CREATE OR REPLACE FUNCTION timed(command text, repeats int)
RETURNS float8
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('CREATE FUNCTION pg_temp.execute_timed(repeats int) RETURNS float8'
				   ' LANGUAGE plpgsql AS %L',
				   'DECLARE began timestamptz; BEGIN'
				   ' began := clock_timestamp();'
				   ' FOR n IN 1..repeats LOOP ' || command || '; END LOOP;'
				   ' RETURN 1000 * extract(epoch FROM clock_timestamp() - began) / repeats; END');
	RETURN pg_temp.execute_timed(repeats);
END
$$;

/* Keeps a hash of a query's rows, whatever their order. */
CREATE OR REPLACE FUNCTION keep_answer(query text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	answer		int8;
BEGIN
	EXECUTE 'SELECT coalesce(sum(hashtextextended(q::text, 0)), 0) % 1e15::numeric + count(*)'
			' FROM (' || query || ') q'
		INTO answer;
	PERFORM set_config('shards.answer', answer::text, false);
END
$$;
