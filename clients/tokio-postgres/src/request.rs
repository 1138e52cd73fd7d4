//! The command line, as CONTRACT.md has it. Every complaint names the option, the value and what to
//! give instead.

use std::time::Duration;

use crate::methods::{Method, METHODS};

const EXECUTIONS_MAX: u64 = 1_000_000_000;
const WARMUP_MAX: u64 = 1_000_000;
const LIMIT_MAX: u64 = 1_000_000;

pub struct Request {
    pub conninfo: String,
    pub sql: String,
    /// Where rows are written; `None` when they are only read.
    pub output: Option<String>,
    pub connect_once: bool,
    pub executions: u64,
    pub warmup: u64,
    /// No execution begins later.
    pub limit: Option<Duration>,
    pub method: &'static Method,
}

impl Request {
    /// Parses the command line; returns the request, or the error.
    pub fn parse(arguments: &[String]) -> Result<Request, String> {
        let mut conninfo = None;
        let mut sql = None;
        let mut output = "/dev/null".to_string();
        let mut printing = false;
        let mut connect_once = false;
        let mut executions = 1;
        let mut warmup = 0;
        let mut limit = None;
        let mut method = &METHODS[0];
        let mut words = arguments.iter();
        while let Some(option) = words.next() {
            let mut value = || {
                words.next().cloned().ok_or_else(|| format!("{option} has no value: see --help"))
            };
            match option.as_str() {
                "-c" => conninfo = Some(value()?),
                "-s" => sql = Some(value()?),
                "-o" => output = value()?,
                "-f" => drop(value()?),
                "-p" => printing = number(option, &value()?, 0, 1)? == 1,
                "-k" => connect_once = number(option, &value()?, 0, 1)? == 1,
                "-n" => executions = number(option, &value()?, 1, EXECUTIONS_MAX)?,
                "-w" => warmup = number(option, &value()?, 0, WARMUP_MAX)?,
                "-t" => {
                    limit = Some(Duration::from_secs(number(option, &value()?, 1, LIMIT_MAX)?));
                }
                "-a" | "-y" => method = method_of_switch(option)?,
                "-m" => method = method_named(&value()?)?,
                _ => return Err(format!("unknown option {option:?}: see --help")),
            }
        }
        Ok(Request {
            conninfo: conninfo.ok_or("-c is missing: see --help")?,
            sql: sql.ok_or("-s is missing: see --help")?,
            output: printing.then_some(output),
            connect_once,
            executions,
            warmup,
            limit,
            method,
        })
    }
}

fn method_of_switch(switch: &str) -> Result<&'static Method, String> {
    METHODS
        .iter()
        .find(|method| method.switch == Some(switch))
        .ok_or_else(|| format!("{switch} is nothing that this client has: see --help"))
}

fn method_named(name: &str) -> Result<&'static Method, String> {
    METHODS
        .iter()
        .find(|method| method.name == name)
        .ok_or_else(|| format!("-m {name:?} is not known: see --help"))
}

fn number(option: &str, text: &str, low: u64, high: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => {
            Err(format!("{option} {text:?} is not valid: give a whole number from {low} to {high}"))
        }
    }
}
