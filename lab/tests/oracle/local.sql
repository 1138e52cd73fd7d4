-- The local database without its wrapper: types, local tables, functions. Made once, then copied
-- as a template; foreign.sql adds to each copy what depends on the wrapper.

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (x integer, y text);
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);

CREATE TABLE near (id integer PRIMARY KEY, k integer, s text, f double precision);
CREATE TABLE sink (id integer, s text, PRIMARY KEY (id));

CREATE TABLE options_baseline (relation oid, server oid, options text[]);

-- Local on purpose: a wrapper may not send a user's function to the other side.
CREATE FUNCTION local_only(i integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN RETURN i + 1; END';

-- Forgets what a session did to rows, statistics, options and schemas.
CREATE FUNCTION reset() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regnamespace('imported') IS NOT NULL THEN
        SET LOCAL client_min_messages = error;
        DROP SCHEMA imported CASCADE;
    END IF;
    TRUNCATE near, sink, part_local;
    INSERT INTO near
        SELECT i, nullif(i % 6, 4), (ARRAY['x', 'y', 'owner 3', NULL])[1 + i % 4], i / 3.0::float8
        FROM generate_series(1, 16) i;
    INSERT INTO part_local SELECT i, 'local ' || i, i % 4 FROM generate_series(51, 58) i;
    DELETE FROM pg_statistic s USING pg_foreign_table f WHERE s.starelid = f.ftrelid;
    UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relkind = 'f' AND reltuples <> -1;
    UPDATE pg_foreign_table f SET ftoptions = o.options FROM options_baseline o
        WHERE f.ftrelid = o.relation AND f.ftoptions IS DISTINCT FROM o.options;
    UPDATE pg_foreign_server s SET srvoptions = o.options FROM options_baseline o
        WHERE s.oid = o.server AND s.srvoptions IS DISTINCT FROM o.options;
END
$$;

CREATE FUNCTION contents() RETURNS TABLE (relation text, content text) LANGUAGE plpgsql
SET extra_float_digits = 3 AS $$
BEGIN
    RETURN QUERY SELECT 'near', x::text FROM near x
        UNION ALL SELECT 'sink', x::text FROM sink x
        UNION ALL SELECT 'part_local', x::text FROM part_local x;
END
$$;

-- An exception block is a subtransaction, and so a savepoint on the other side.
CREATE FUNCTION try_insert(name text, amount numeric) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    reason text;
BEGIN
    INSERT INTO account (owner, balance) VALUES (name, amount);
    RETURN 'inserted';
EXCEPTION
    WHEN unique_violation OR check_violation THEN
        GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
        RETURN SQLSTATE || ' ' || SQLERRM || ' ' || reason;
END
$$;

CREATE FUNCTION move_money(source integer, target integer, amount numeric) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    remaining numeric;
BEGIN
    UPDATE account SET balance = balance + amount WHERE id = target;
    BEGIN
        UPDATE account SET balance = balance - amount WHERE id = source RETURNING balance
            INTO STRICT remaining;
        BEGIN
            INSERT INTO audited VALUES (source, CASE WHEN amount > 50 THEN 'boom' ELSE 'moved' END);
        EXCEPTION WHEN OTHERS THEN
            RAISE NOTICE 'not audited: % %', SQLSTATE, SQLERRM;
        END;
        RETURN remaining;
    EXCEPTION WHEN check_violation OR no_data_found THEN
        RETURN SQLSTATE;
    END;
END
$$;

CREATE FUNCTION sum_until(bound integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found_row record;
    total bigint := 0;
BEGIN
    FOR found_row IN SELECT id, branch FROM big ORDER BY id LOOP
        EXIT WHEN found_row.id > bound;
        total := total + found_row.branch
            + (SELECT count(*) FROM account a WHERE a.branch = found_row.branch);
    END LOOP;
    RETURN total;
END
$$;

SET check_function_bodies = off;
CREATE FUNCTION owners_of(wanted integer) RETURNS SETOF text LANGUAGE sql STABLE AS
    'SELECT owner FROM account WHERE branch = wanted ORDER BY owner';
