//! The loop: connects, executes, disconnects, and keeps the times.

use std::fs::File;
use std::time::{Duration, Instant};

use crate::methods::Execution;
use crate::request::Request;
use crate::session::{Server, Session};
use crate::sink::Sink;
use crate::Failure;

pub struct Measurement<'a> {
    server: &'a Server,
    request: &'a Request,
    executions: u64,
    connections: u64,
    connect: Duration,
    first_row: Duration,
    all_rows: Duration,
    materialise: Duration,
}

impl<'a> Measurement<'a> {
    fn new(server: &'a Server, request: &'a Request) -> Measurement<'a> {
        Measurement {
            server,
            request,
            executions: 0,
            connections: 0,
            connect: Duration::ZERO,
            first_row: Duration::ZERO,
            all_rows: Duration::ZERO,
            materialise: Duration::ZERO,
        }
    }

    /// Runs the statement so often, or until the limit has passed, but at least once; returns the
    /// connection when it is still open.
    async fn run(
        &mut self,
        sink: &mut Sink,
        at_most: u64,
        limit: Option<Duration>,
        open: Option<Session>,
    ) -> Result<Option<Session>, Failure> {
        let start = Instant::now();
        let mut open = open;
        while self.executions < at_most {
            if self.executions > 0 && limit.is_some_and(|limit| start.elapsed() >= limit) {
                break;
            }
            let mut session = match open.take() {
                Some(session) => session,
                None => self.connect().await?,
            };
            let batch = if self.request.connect_once { self.request.method.batch } else { 1 };
            let count = batch.min(at_most - self.executions);
            self.execute(&mut session, sink, count).await?;
            if self.request.connect_once {
                open = Some(session);
            } else {
                session.close().await?;
            }
        }
        Ok(open)
    }

    async fn connect(&mut self) -> Result<Session, Failure> {
        let start = Instant::now();
        let session = self.server.connect().await?;
        self.connect += start.elapsed();
        self.connections += 1;
        Ok(session)
    }

    async fn execute(
        &mut self,
        session: &mut Session,
        sink: &mut Sink,
        count: u64,
    ) -> Result<(), Failure> {
        let mut execution = Execution::new(&self.request.sql, sink, count);
        (self.request.method.execute)(session, &mut execution).await?;
        self.executions += count;
        self.first_row += execution.first_row - execution.sent;
        self.all_rows += execution.all_rows - execution.sent;
        self.materialise += execution.all_rows.elapsed();
        Ok(())
    }

    /// Returns the line of figures.
    fn figures(&self, total: Duration, cpu: Duration, rows: u64, checked: &Sink) -> String {
        let method = self.request.method;
        let materialise = match method.streams() {
            true => "null".to_string(),
            false => self.materialise.as_nanos().to_string(),
        };
        format!(
            concat!(
                r#"{{"driver": "tokio-postgres", "driver_version": "{}", "method": "{}", "#,
                r#""held": "{}", "executions": {}, "connections": {}, "rows": {}, "bytes": {}, "#,
                r#""checksum": "{:08x}", "connect_ns": {}, "first_row_ns": {}, "#,
                r#""all_rows_ns": {}, "materialise_ns": {}, "total_ns": {}, "cpu_ns": {}, "#,
                r#""wire_bytes": null, "execution_us": {:.3}}}"#
            ),
            env!("TOKIO_POSTGRES_VERSION"),
            method.name,
            method.held,
            self.executions,
            self.connections,
            rows,
            checked.bytes,
            checked.checksum,
            self.connect.as_nanos(),
            self.first_row.as_nanos(),
            self.all_rows.as_nanos(),
            materialise,
            total.as_nanos(),
            cpu.as_nanos(),
            total.as_nanos() as f64 / 1000.0 / self.executions as f64,
        )
    }
}

/// Returns the processor time that the process has used, all threads.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock is one that every process has, and the time is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Warms up, measures, and checks the rows of one more execution; returns the line of figures.
pub async fn measure(request: &Request, output: Option<File>) -> Result<String, Failure> {
    let server = Server::new(&request.conninfo)?;
    let mut warm = Measurement::new(&server, request);
    let mut open = warm.run(&mut Sink::reading(), request.warmup, None, None).await?;
    if let Some(session) = open.take() {
        session.close().await?;
    }

    let mut sink = output.map_or_else(Sink::reading, Sink::printing);
    let mut timed = Measurement::new(&server, request);
    let (start_cpu, start) = (cpu_time(), Instant::now());
    open = timed.run(&mut sink, request.executions, request.limit, open).await?;
    sink.flush()?;
    let (total, cpu) = (start.elapsed(), cpu_time() - start_cpu);

    let mut checked = Sink::checking();
    let mut check = Measurement::new(&server, request);
    if let Some(session) = check.run(&mut checked, 1, None, open).await? {
        session.close().await?;
    }
    Ok(timed.figures(total, cpu, sink.rows, &checked))
}
