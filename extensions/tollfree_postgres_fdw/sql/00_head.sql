/* The extension's script: the files of sql/, in the order of their numbers. */

\echo Use "CREATE EXTENSION tollfree_postgres_fdw" to load this file. \quit

