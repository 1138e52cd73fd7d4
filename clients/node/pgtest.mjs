// pgtest: measures node-postgres's ways to get at the rows of a statement.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import Cursor from "pg-cursor";
import { main } from "./contract.mjs";

const CHUNK_ROWS = 1000;
const { version } = createRequire(import.meta.url)("pg/package.json");

// Returns a connection; the conninfo is what pg.Client takes, as JSON, and the server's certificate.
async function connect(conninfo) {
  const config = JSON.parse(conninfo);
  if (config.certificate) {
    config.ssl = { ca: readFileSync(config.certificate, "utf8") };
  }
  const client = new pg.Client(config);
  // Without a listener an error between statements would end the program in its own way.
  client.on("error", () => {});
  await client.connect();
  return client;
}

const arrays = (execution) => ({ text: execution.sql, rowMode: "array" });

// The whole result: an object a row. Integers of eight bytes are texts there, as everywhere here.
async function normal(client, execution) {
  execution.sent();
  const { rows } = await client.query(execution.sql);
  execution.sawAll();
  for (const row of rows) execution.sink.takeRow(Object.values(row));
}

// The whole result, an array a row, of a statement prepared once a connection.
async function prepared(client, execution) {
  execution.sent();
  const { rows } = await client.query({ ...arrays(execution), name: "statement" });
  execution.sawAll();
  for (const row of rows) execution.sink.takeRow(row);
}

// The whole result: an array a row.
async function array(client, execution) {
  execution.sent();
  const { rows } = await client.query(arrays(execution));
  execution.sawAll();
  for (const row of rows) execution.sink.takeRow(row);
}

// A thousand rows at a time, on request.
async function cursor(client, execution) {
  execution.sent();
  const open = client.query(new Cursor(execution.sql, [], { rowMode: "array" }));
  for (;;) {
    const rows = await open.read(CHUNK_ROWS);
    if (rows.length === 0) break;
    execution.sawRow();
    for (const row of rows) execution.sink.takeRow(row);
  }
  await open.close();
  execution.sawAll();
}

// COPY's blocks.
async function copy(client, execution) {
  execution.sent();
  for await (const block of client.query(copyTo(`COPY (${execution.sql}) TO STDOUT`))) {
    execution.sawRow();
    execution.sink.takeBlock(block);
  }
  execution.sawAll();
}

main({
  program: "pgtest",
  driver: "node-postgres",
  version,
  connect,
  close: (client) => client.end(),
  methods: [
    { name: "normal", held: "rows", execute: normal },
    { name: "cursor", letter: "a", held: "nothing", execute: cursor },
    { name: "copy", letter: "y", held: "nothing", execute: copy },
    { name: "array", held: "rows", execute: array },
    { name: "prepared", held: "rows", execute: prepared },
  ],
});
