/* The extension's script: the files of sql/, in the order of their numbers. */

\echo Use "CREATE EXTENSION tollfree_file_fdw" to load this file. \quit

