//! The ways to get at the rows.
//!
//! Results come in binary form, except those of the simple protocol.

use std::cell::RefCell;
use std::pin::pin;
use std::time::Instant;

use futures_util::future::{try_join_all, LocalBoxFuture};
use futures_util::TryStreamExt;
use tokio_postgres::binary_copy::BinaryCopyOutStream;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, SimpleQueryMessage};

use crate::session::Session;
use crate::sink::Sink;
use crate::Failure;

/// Executions that the method `pipeline` sends together.
const PIPELINE_BATCH: u64 = 100;

const NO_PARAMETERS: [&(dyn ToSql + Sync); 0] = [];
const NO_TYPED_PARAMETERS: [(&(dyn ToSql + Sync), Type); 0] = [];

pub struct Method {
    /// As -m names it.
    pub name: &'static str,
    /// The switch that means it too.
    pub switch: Option<&'static str>,
    /// What the program holds when all rows are there.
    pub held: &'static str,
    /// How many executions it takes at once.
    pub batch: u64,
    pub execute: for<'a> fn(&'a mut Session, &'a mut Execution<'_>) -> Running<'a>,
}

type Running<'a> = LocalBoxFuture<'a, Result<(), Failure>>;

impl Method {
    /// Returns whether cells are read while rows arrive.
    pub fn streams(&self) -> bool {
        self.held == "nothing"
    }
}

const fn method(
    name: &'static str,
    switch: Option<&'static str>,
    held: &'static str,
    execute: for<'a> fn(&'a mut Session, &'a mut Execution<'_>) -> Running<'a>,
) -> Method {
    Method { name, switch, held, batch: 1, execute }
}

pub static METHODS: [Method; 8] = [
    method("normal", None, "native", |s, e| Box::pin(normal(s, e))),
    method("single-row", Some("-a"), "nothing", |s, e| Box::pin(single_row(s, e))),
    method("copy", Some("-y"), "nothing", |s, e| Box::pin(copy(s, e))),
    method("copy-binary", None, "nothing", |s, e| Box::pin(copy_binary(s, e))),
    method("prepared", None, "native", |s, e| Box::pin(prepared(s, e))),
    method("unprepared", None, "native", |s, e| Box::pin(unprepared(s, e))),
    method("simple", None, "native", |s, e| Box::pin(simple(s, e))),
    Method {
        batch: PIPELINE_BATCH,
        ..method("pipeline", None, "nothing", |s, e| Box::pin(pipeline(s, e)))
    },
];

/// What a method is to do, and when it did what. Until a row has been seen, the first one's moment is
/// that of sending.
pub struct Execution<'a> {
    pub sql: &'a str,
    pub sink: &'a mut Sink,
    /// How often, at most the method's `batch`.
    pub count: u64,
    pub sent: Instant,
    pub first_row: Instant,
    pub all_rows: Instant,
}

impl<'a> Execution<'a> {
    pub fn new(sql: &'a str, sink: &'a mut Sink, count: u64) -> Execution<'a> {
        let now = Instant::now();
        Execution { sql, sink, count, sent: now, first_row: now, all_rows: now }
    }

    fn sent(&mut self) {
        self.sent = Instant::now();
        self.first_row = self.sent;
    }

    fn saw_row(&mut self) {
        if self.first_row == self.sent {
            self.first_row = Instant::now();
        }
    }

    /// Takes a row as it arrives.
    fn take_row(&mut self, row: &Row) -> Result<(), Failure> {
        self.saw_row();
        self.sink.take_row(row)
    }

    fn saw_all(&mut self) {
        self.all_rows = Instant::now();
        if self.first_row == self.sent {
            self.first_row = self.all_rows;
        }
    }
}

/// The whole result. The driver prepares the statement and forgets it again.
async fn normal(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let rows = session.client.query(execution.sql, &NO_PARAMETERS).await?;
    execution.saw_all();
    rows.iter().try_for_each(|row| execution.sink.take_row(row))
}

/// The whole result of a statement prepared once a connection.
async fn prepared(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let statement = session.prepare(execution.sql).await?;
    let rows = session.client.query(&statement, &NO_PARAMETERS).await?;
    execution.saw_all();
    rows.iter().try_for_each(|row| execution.sink.take_row(row))
}

/// The whole result of a statement without a name, parsed and executed in one round trip.
async fn unprepared(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let rows = session.client.query_typed(execution.sql, &[]).await?;
    execution.saw_all();
    rows.iter().try_for_each(|row| execution.sink.take_row(row))
}

/// The whole result by the simple protocol, in text form.
async fn simple(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let messages = session.client.simple_query(execution.sql).await?;
    execution.saw_all();
    for message in &messages {
        if let SimpleQueryMessage::Row(row) = message {
            execution.sink.take_texts(row)?;
        }
    }
    Ok(())
}

/// The rows one by one as they arrive.
async fn single_row(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let mut rows = pin!(session.client.query_raw(execution.sql, NO_PARAMETERS).await?);
    while let Some(row) = rows.try_next().await? {
        execution.take_row(&row)?;
    }
    execution.saw_all();
    Ok(())
}

/// Many executions, sent without waiting for any. Their rows come one execution after the other, but
/// all of them have to be waited for at the same time, or the driver stops reading.
async fn pipeline(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    execution.sent();
    let (client, sql, count) = (&session.client, execution.sql, execution.count);
    let shared = RefCell::new(&mut *execution);
    let one = |_| async {
        let mut rows = pin!(client.query_typed_raw(sql, NO_TYPED_PARAMETERS).await?);
        while let Some(row) = rows.try_next().await? {
            shared.borrow_mut().take_row(&row)?;
        }
        Ok::<(), Failure>(())
    };
    try_join_all((0..count).map(one)).await?;
    execution.saw_all();
    Ok(())
}

/// COPY's lines.
async fn copy(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    let statement = format!("COPY ({}) TO STDOUT", execution.sql);
    execution.sent();
    let mut lines = pin!(session.client.copy_out(&statement).await?);
    while let Some(line) = lines.try_next().await? {
        execution.saw_row();
        execution.sink.take_line(&line)?;
    }
    execution.saw_all();
    Ok(())
}

/// COPY's binary rows. The driver wants to be told their types, which it asks for beforehand, once
/// a connection.
async fn copy_binary(session: &mut Session, execution: &mut Execution<'_>) -> Result<(), Failure> {
    let described = session.prepare(execution.sql).await?;
    let types: Vec<Type> =
        described.columns().iter().map(|column| column.type_().clone()).collect();
    let statement = format!("COPY ({}) TO STDOUT (FORMAT binary)", execution.sql);
    execution.sent();
    let rows = session.client.copy_out(&statement).await?;
    let mut rows = pin!(BinaryCopyOutStream::new(rows, &types));
    while let Some(row) = rows.try_next().await? {
        execution.saw_row();
        execution.sink.take_copied(&row, &types)?;
    }
    execution.saw_all();
    Ok(())
}
