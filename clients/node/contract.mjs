// What the clients of Node share: the command line, the measuring loop and the figures.
//
// CONTRACT.md says what they mean. A client describes its driver and calls main().

import { closeSync, openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const EXIT_UNAVAILABLE = 77;
const EXECUTIONS_MAX = 1_000_000_000;
const WARMUP_MAX = 1_000_000;
const LIMIT_MAX = 1_000_000;
const NS_PER_S = 1_000_000_000n;
const OUTPUT_BUFFER = 1024 * 1024;
const NS_PER_US = 1000;
const LINE_FEED = 10;
const TAB = 9;

const now = () => process.hrtime.bigint();

class UsageError extends Error {}

// The driver cannot do this, or not soundly.
export class Unavailable extends Error {}

// Takes rows and looks at every cell of them.
class Sink {
  rows = 0;
  seen = 0;
  rest = Buffer.alloc(0);

  takeRow(row) {
    for (const cell of row) {
      if (cell !== null) this.seen += typeof cell === "string" ? cell.length : cell;
    }
    this.rows++;
  }

  // A row as COPY writes it; to read its cells is to find where they end.
  takeLine(line) {
    for (let at = line.indexOf(TAB); at >= 0; at = line.indexOf(TAB, at + 1)) this.seen++;
    this.rows++;
  }

  // A block of COPY's, which ends where it likes.
  takeBlock(block) {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, block]) : block;
    let start = 0;
    for (let end; (end = bytes.indexOf(LINE_FEED, start)) >= 0; start = end + 1) {
      this.takeLine(bytes.subarray(start, end + 1));
    }
    this.rest = bytes.subarray(start);
  }

  flush() {}
}

// Takes rows whose text is wanted.
class TextSink extends Sink {
  takeRow(row) {
    const text = row.map((cell) => (cell === null ? "\\N" : String(cell))).join("\t");
    this.takeLine(Buffer.from(`${text}\n`));
  }
}

// Writes every row to a file.
class Printer extends TextSink {
  buffer = Buffer.alloc(OUTPUT_BUFFER);
  used = 0;

  constructor(file) {
    super();
    this.file = file;
  }

  takeLine(line) {
    if (this.used + line.length > OUTPUT_BUFFER) this.flush();
    if (line.length > OUTPUT_BUFFER) this.write(line);
    else this.used += line.copy(this.buffer, this.used);
    this.rows++;
  }

  flush() {
    this.write(this.buffer.subarray(0, this.used));
    this.used = 0;
  }

  write(bytes) {
    for (let done = 0; done < bytes.length;) done += writeSync(this.file, bytes, done);
  }
}

// Adds every row to the checksum.
class Checker extends TextSink {
  bytes = 0;
  checksum = 0;

  takeLine(line) {
    this.bytes += line.length;
    this.checksum = (this.checksum + crc32(line)) >>> 0;
    this.rows++;
  }
}

// What a method is to do, and when it did what.
class Execution {
  constructor(sql, sink) {
    this.sql = sql;
    this.sink = sink;
  }

  sent() {
    this.sentNs = now();
  }

  sawRow() {
    this.firstRowNs ??= now();
  }

  sawAll() {
    this.allRowsNs = now();
    this.firstRowNs ??= this.allRowsNs;
  }
}

const streams = (method) => method.held === "nothing";

// The loop: connects, executes, disconnects, and keeps the times.
class Measurement {
  executions = 0;
  connections = 0;
  connectNs = 0n;
  firstRowNs = 0n;
  allRowsNs = 0n;
  materialiseNs = 0n;

  constructor(client, request) {
    this.client = client;
    this.request = request;
  }

  // Executes so often, or until the limit (none: undefined) has passed, but at least once.
  // Returns the connection when it is still open.
  async run(sink, atMost, { open, limitNs } = {}) {
    const startNs = now();
    const over = () => limitNs !== undefined && this.executions > 0 && now() - startNs >= limitNs;
    let connection = open;
    while (this.executions < atMost && !over()) {
      connection ??= await this.connect();
      await this.execute(connection, sink);
      if (!this.request.connectOnce) {
        await this.client.close(connection);
        connection = undefined;
      }
    }
    return connection;
  }

  async connect() {
    const startNs = now();
    const connection = await this.client.connect(this.request.conninfo);
    this.connectNs += now() - startNs;
    this.connections++;
    return connection;
  }

  async execute(connection, sink) {
    const execution = new Execution(this.request.sql, sink);
    await this.request.method.execute(connection, execution);
    this.executions++;
    this.firstRowNs += execution.firstRowNs - execution.sentNs;
    this.allRowsNs += execution.allRowsNs - execution.sentNs;
    this.materialiseNs += now() - execution.allRowsNs;
  }
}

function number(option, text, low, high) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= low && value <= high) return value;
  throw new UsageError(
    `-${option} "${text}" is not valid: give a whole number from ${low} to ${high}`,
  );
}

function findMethod(client, values) {
  const letter = values.a ? "a" : values.y ? "y" : undefined;
  const found = client.methods.find((method) =>
    values.m !== undefined ? method.name === values.m : letter === method.letter,
  );
  if (found === undefined) {
    throw new UsageError(`${letter ? `-${letter}` : `-m "${values.m}"`} is not known: see --help`);
  }
  return found;
}

function parse(client, words) {
  const text = { type: "string" };
  const options = {
    help: { type: "boolean" },
    ...Object.fromEntries([..."csofpknwtm"].map((letter) => [letter, { ...text, short: letter }])),
    ...Object.fromEntries([..."ay"].map((letter) => [letter, { type: "boolean", short: letter }])),
  };
  let values;
  try {
    ({ values } = parseArgs({ args: words, options }));
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (values.help) return undefined;
  for (const letter of "cs") {
    if (values[letter] === undefined) throw new UsageError(`-${letter} is missing: see --help`);
  }
  return {
    conninfo: values.c,
    sql: values.s,
    output: number("p", values.p ?? "0", 0, 1) === 1 ? (values.o ?? "/dev/null") : undefined,
    connectOnce: number("k", values.k ?? "0", 0, 1) === 1,
    executions: number("n", values.n ?? "1", 1, EXECUTIONS_MAX),
    warmup: number("w", values.w ?? "0", 0, WARMUP_MAX),
    limitNs:
      values.t === undefined ? undefined : BigInt(number("t", values.t, 1, LIMIT_MAX)) * NS_PER_S,
    method: findMethod(client, values),
  };
}

function open(path) {
  try {
    return openSync(path, "w");
  } catch (error) {
    throw new UsageError(`cannot write -o "${path}": ${error.message}`);
  }
}

async function measure(client, request) {
  const warm = await new Measurement(client, request).run(new Sink(), request.warmup);
  if (warm) await client.close(warm);

  const file = request.output === undefined ? undefined : open(request.output);
  const sink = file === undefined ? new Sink() : new Printer(file);
  const timed = new Measurement(client, request);
  const startCpu = process.cpuUsage();
  const startNs = now();
  const connection = await timed.run(sink, request.executions, { limitNs: request.limitNs });
  sink.flush();
  const totalNs = now() - startNs;
  const cpu = process.cpuUsage(startCpu);
  if (file !== undefined) closeSync(file);

  const checker = new Checker();
  const last = await new Measurement(client, request).run(checker, 1, { open: connection });
  if (last) await client.close(last);
  const cpuNs = (cpu.user + cpu.system) * NS_PER_US;
  return figures(client, request, { timed, sink, checker, totalNs, cpuNs });
}

function figures(client, request, { timed, sink, checker, totalNs, cpuNs }) {
  return {
    driver: client.driver,
    driver_version: client.version,
    method: request.method.name,
    held: request.method.held,
    executions: timed.executions,
    connections: timed.connections,
    rows: sink.rows,
    bytes: checker.bytes,
    checksum: checker.checksum.toString(16).padStart(8, "0"),
    connect_ns: Number(timed.connectNs),
    first_row_ns: Number(timed.firstRowNs),
    all_rows_ns: Number(timed.allRowsNs),
    materialise_ns: streams(request.method) ? null : Number(timed.materialiseNs),
    total_ns: Number(totalNs),
    cpu_ns: cpuNs,
    wire_bytes: null,
    execution_us: Number((Number(totalNs) / NS_PER_US / timed.executions).toFixed(3)),
  };
}

function help(client) {
  return [
    `${client.program}: runs a statement and prints how long its rows took`,
    "",
    `Usage: ${client.program} -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]`,
    "       [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]",
    "",
    "What these mean is in clients/CONTRACT.md.  Methods:",
    ...client.methods.map((method) => `  ${method.name}`),
    "",
  ].join("\n");
}

function exitCode(error) {
  if (error instanceof UsageError) return EXIT_USAGE;
  return error instanceof Unavailable ? EXIT_UNAVAILABLE : EXIT_FAILURE;
}

// Executes the command line.
export async function main(client) {
  try {
    const request = parse(client, process.argv.slice(2));
    const said = request ? `${JSON.stringify(await measure(client, request))}\n` : help(client);
    process.stdout.write(said);
  } catch (error) {
    const message = (error.message || error.code || String(error)).split(/\s+/).join(" ");
    writeSync(2, `${client.program}: ${message}\n`);
    // At once: a connection that is still open would keep the program alive.
    process.exit(exitCode(error));
  }
}
