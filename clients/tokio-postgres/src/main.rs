//! tokiopgtest: measures tokio-postgres's ways to get at the rows of a statement.

mod measure;
mod methods;
mod request;
mod session;
mod sink;

use std::env;
use std::error::Error;
use std::fs::File;
use std::process::ExitCode;

use methods::METHODS;
use request::Request;

const EXIT_FAILURE: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// What ends the program with one line: whatever went wrong, as its own library says it.
type Failure = Box<dyn Error + Send + Sync>;

fn help() {
    println!(
        "tokiopgtest: runs a statement and prints how long its rows took\n\n\
         Usage: tokiopgtest -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]\n       \
         [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]\n\n\
         What these mean is in clients/CONTRACT.md.  Methods:"
    );
    for method in &METHODS {
        println!("  {}", method.name);
    }
}

/// Says in one line what went wrong.
fn fail(code: u8, message: &str) -> ExitCode {
    let words: Vec<&str> = message.split_whitespace().collect();
    eprintln!("tokiopgtest: {}", words.join(" "));
    ExitCode::from(code)
}

/// Returns an error with what it came of, unless it says that itself.
fn told(failure: &Failure) -> String {
    let mut message = failure.to_string();
    let mut source = failure.source();
    while let Some(cause) = source {
        let cause_message = cause.to_string();
        if !message.contains(&cause_message) {
            message = format!("{message}: {cause_message}");
        }
        source = cause.source();
    }
    message
}

/// Opens the file that rows are to be written to, if any.
fn open(request: &Request) -> Result<Option<File>, String> {
    let Some(path) = &request.output else {
        return Ok(None);
    };
    match File::create(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => Err(format!("cannot write -o {path:?}: {error}")),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        help();
        return ExitCode::SUCCESS;
    }
    let asked = Request::parse(&arguments).and_then(|request| Ok((open(&request)?, request)));
    let (output, request) = match asked {
        Ok(asked) => asked,
        Err(message) => return fail(EXIT_USAGE, &message),
    };
    match measure::measure(&request, output).await {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(failure) => fail(EXIT_FAILURE, &told(&failure)),
    }
}
