// postgresjstest: measures postgres.js's ways to get at the rows of a statement.

import { readFileSync } from "node:fs";
import postgres from "postgres";
import { main, Unavailable } from "./contract.mjs";

const CHUNK_ROWS = 1000;
const about = new URL("node_modules/postgres/package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(about, "utf8"));

// Returns the password of the file that the environment names, which the driver does not read.
function password() {
  const file = process.env.PGPASSFILE;
  return file === undefined ? undefined : readFileSync(file, "utf8").trimEnd().split(":").pop();
}

// Returns a pool of one connection; the conninfo is what the driver takes, as JSON, and the server's
// certificate. The driver would connect only when there is a statement; to reserve the connection
// makes it do so now.
async function connect(conninfo) {
  const { certificate, ...where } = JSON.parse(conninfo);
  const ssl = certificate ? { ca: readFileSync(certificate, "utf8") } : false;
  const sql = postgres({ ...where, ssl, password: password(), max: 1, onnotice: () => {} });
  (await sql.reserve()).release();
  return sql;
}

// A statement that is prepared at its first execution and kept, as those in the driver's templates.
const kept = (sql, execution) => sql.unsafe(execution.sql, [], { prepare: true });

function takeObjects(rows, execution) {
  for (const row of rows) execution.sink.takeRow(Object.values(row));
}

// The whole result: an object a row. Integers of eight bytes are texts there, as everywhere here.
async function normal(sql, execution) {
  execution.sent();
  const rows = await kept(sql, execution);
  execution.sawAll();
  takeObjects(rows, execution);
}

// The whole result of a statement that is parsed each time.
async function unprepared(sql, execution) {
  execution.sent();
  const rows = await sql.unsafe(execution.sql);
  execution.sawAll();
  takeObjects(rows, execution);
}

// The whole result by the simple protocol.
async function simple(sql, execution) {
  execution.sent();
  const rows = await sql.unsafe(execution.sql).simple();
  execution.sawAll();
  takeObjects(rows, execution);
}

// The whole result: an array a row.
async function array(sql, execution) {
  execution.sent();
  const rows = await kept(sql, execution).values();
  execution.sawAll();
  for (const row of rows) execution.sink.takeRow(row);
}

// Each row as it arrives.
async function singleRow(sql, execution) {
  execution.sent();
  await kept(sql, execution).forEach((row) => {
    execution.sawRow();
    execution.sink.takeRow(Object.values(row));
  });
  execution.sawAll();
}

// A thousand rows at a time, on request.
async function cursor(sql, execution) {
  execution.sent();
  for await (const rows of kept(sql, execution).cursor(CHUNK_ROWS)) {
    execution.sawRow();
    takeObjects(rows, execution);
  }
  execution.sawAll();
}

// COPY's end may come together with more data than the stream would hold. Then the driver leaves its
// socket paused, and never sees the answer to the next statement.
async function copy() {
  throw new Unavailable(`postgres.js ${version} may stop reading after COPY TO STDOUT`);
}

main({
  program: "postgresjstest",
  driver: "postgres.js",
  version,
  connect,
  close: (sql) => sql.end(),
  methods: [
    { name: "normal", held: "rows", execute: normal },
    { name: "cursor", letter: "a", held: "nothing", execute: cursor },
    { name: "copy", letter: "y", held: "nothing", execute: copy },
    { name: "array", held: "rows", execute: array },
    { name: "single-row", held: "nothing", execute: singleRow },
    { name: "unprepared", held: "rows", execute: unprepared },
    { name: "simple", held: "rows", execute: simple },
  ],
});
