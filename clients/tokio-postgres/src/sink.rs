//! Takes rows and looks at every cell of them. What else becomes of the rows' text, a sink's purpose
//! says: written, or added to the checksum.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use tokio_postgres::binary_copy::BinaryCopyOutRow;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Row, SimpleQueryRow};

use crate::Failure;

const OUTPUT_BUFFER: usize = 1024 * 1024;

enum Purpose {
    Reading,
    Printing(BufWriter<File>),
    Checking,
}

pub struct Sink {
    purpose: Purpose,
    pub rows: u64,
    /// Of the rows' text; counted when checking, as the checksum is.
    pub bytes: u64,
    pub checksum: u32,
    seen: u64,
    /// The row so far; kept for its memory.
    text: Vec<u8>,
}

/// A value as the driver gives it.
enum Cell<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
}

/// A row whose values the driver converts when asked.
pub trait Values {
    fn value<'a, T: FromSql<'a>>(&'a self, at: usize) -> Result<T, tokio_postgres::Error>;
}

impl Values for Row {
    fn value<'a, T: FromSql<'a>>(&'a self, at: usize) -> Result<T, tokio_postgres::Error> {
        self.try_get(at)
    }
}

impl Values for BinaryCopyOutRow {
    fn value<'a, T: FromSql<'a>>(&'a self, at: usize) -> Result<T, tokio_postgres::Error> {
        self.try_get(at)
    }
}

fn cell<'a>(row: &'a impl Values, at: usize, kind: &Type) -> Result<Cell<'a>, Failure> {
    let integer = |value: Option<i64>| value.map_or(Cell::Null, Cell::Integer);
    Ok(match *kind {
        Type::INT4 => integer(row.value::<Option<i32>>(at)?.map(i64::from)),
        Type::INT8 => integer(row.value(at)?),
        _ => row.value::<Option<&str>>(at)?.map_or(Cell::Null, Cell::Text),
    })
}

impl Sink {
    fn new(purpose: Purpose) -> Sink {
        Sink { purpose, rows: 0, bytes: 0, checksum: 0, seen: 0, text: Vec::new() }
    }

    /// Returns a sink that only looks at the rows.
    pub fn reading() -> Sink {
        Sink::new(Purpose::Reading)
    }

    /// Returns a sink that writes the rows.
    pub fn printing(file: File) -> Sink {
        let output = BufWriter::with_capacity(OUTPUT_BUFFER, file);
        Sink::new(Purpose::Printing(output))
    }

    /// Returns a sink that makes the checksum of the rows.
    pub fn checking() -> Sink {
        Sink::new(Purpose::Checking)
    }

    fn wants_text(&self) -> bool {
        !matches!(self.purpose, Purpose::Reading)
    }

    /// Takes a row that came in binary form.
    pub fn take_row(&mut self, row: &Row) -> Result<(), Failure> {
        let columns = row.columns();
        if self.wants_text() {
            let cells = columns.iter().enumerate();
            return self.take_cells(cells.map(|(at, column)| cell(row, at, column.type_())));
        }
        for (at, column) in columns.iter().enumerate() {
            self.seen = self.seen.wrapping_add(match cell(row, at, column.type_())? {
                Cell::Null => 0,
                Cell::Integer(value) => value as u64,
                Cell::Text(value) => value.len() as u64,
            });
        }
        self.rows += 1;
        Ok(())
    }

    /// Takes a row that came in text form.
    pub fn take_texts(&mut self, row: &SimpleQueryRow) -> Result<(), Failure> {
        let texts = (0..row.len()).map(|at| row.try_get(at));
        if self.wants_text() {
            return self.take_cells(texts.map(|text| Ok(text?.map_or(Cell::Null, Cell::Text))));
        }
        for text in texts {
            self.seen += text?.map_or(0, str::len) as u64;
        }
        self.rows += 1;
        Ok(())
    }

    /// Takes a row of COPY's binary form. To read its cells is to find where they end, which the
    /// driver has done.
    pub fn take_copied(&mut self, row: &BinaryCopyOutRow, types: &[Type]) -> Result<(), Failure> {
        if self.wants_text() {
            let cells = types.iter().enumerate();
            return self.take_cells(cells.map(|(at, kind)| cell(row, at, kind)));
        }
        self.rows += 1;
        Ok(())
    }

    /// Takes a row as COPY writes it, its line feed included; to read its cells is to find where
    /// they end.
    pub fn take_line(&mut self, line: &[u8]) -> Result<(), Failure> {
        self.rows += 1;
        match &mut self.purpose {
            Purpose::Reading => {
                self.seen += line.iter().filter(|&&byte| byte == b'\t').count() as u64
            }
            Purpose::Printing(output) => output.write_all(line)?,
            Purpose::Checking => {
                self.bytes += line.len() as u64;
                self.checksum = self.checksum.wrapping_add(crc32fast::hash(line));
            }
        }
        Ok(())
    }

    fn take_cells<'a>(
        &mut self,
        cells: impl Iterator<Item = Result<Cell<'a>, Failure>>,
    ) -> Result<(), Failure> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                text.push(b'\t');
            }
            match cell? {
                Cell::Null => text.extend_from_slice(b"\\N"),
                Cell::Integer(value) => write!(text, "{value}")?,
                Cell::Text(value) => text.extend_from_slice(value.as_bytes()),
            }
        }
        text.push(b'\n');
        self.take_line(&text)?;
        self.text = text;
        Ok(())
    }

    /// Brings to the file what is not there yet; of the compiler's view of the cells that were
    /// looked at, nothing may be left out.
    pub fn flush(&mut self) -> io::Result<()> {
        std::hint::black_box(self.seen);
        match &mut self.purpose {
            Purpose::Printing(output) => output.flush(),
            _ => Ok(()),
        }
    }
}
