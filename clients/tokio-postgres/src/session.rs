//! Where to connect to, and one connection.

use std::env;
use std::fs;

use openssl::ssl::{SslConnector, SslMethod};
use postgres_openssl::MakeTlsConnector;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls, Statement};

use crate::Failure;

/// What the driver has no word for: the file of the server's certificate, at the conninfo's end.
const CERTIFICATE: &str = " sslrootcert=";

/// A server, and how it is checked. Made once, as programs do that connect more than once.
pub struct Server {
    config: Config,
    tls: Option<MakeTlsConnector>,
}

impl Server {
    /// Returns the server that a conninfo means.
    pub fn new(conninfo: &str) -> Result<Server, Failure> {
        let (conninfo, certificate) = match conninfo.split_once(CERTIFICATE) {
            Some((conninfo, certificate)) => (conninfo, Some(certificate)),
            None => (conninfo, None),
        };
        let mut config: Config = conninfo.parse()?;
        if let Some(password) = password()? {
            config.password(password);
        }
        let tls = certificate.map(connector).transpose()?;
        Ok(Server { config, tls })
    }

    /// Connects.
    pub async fn connect(&self) -> Result<Session, Failure> {
        let (client, task) = match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                (client, tokio::spawn(connection))
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                (client, tokio::spawn(connection))
            }
        };
        Ok(Session { client, task, statement: None })
    }
}

/// Returns a way to speak TLS with the server of that certificate, and no other.
fn connector(certificate: &str) -> Result<MakeTlsConnector, Failure> {
    let mut builder = SslConnector::builder(SslMethod::tls())?;
    builder.set_ca_file(certificate)?;
    Ok(MakeTlsConnector::new(builder.build()))
}

/// Returns the password of the file that the environment names, which the driver does not read.
fn password() -> Result<Option<String>, Failure> {
    let Ok(path) = env::var("PGPASSFILE") else {
        return Ok(None);
    };
    let text = fs::read_to_string(path)?;
    Ok(text.trim_end().rsplit(':').next().map(str::to_string))
}

pub struct Session {
    pub client: Client,
    /// Carries the connection's messages, until its client is gone.
    task: JoinHandle<Result<(), tokio_postgres::Error>>,
    statement: Option<Statement>,
}

impl Session {
    /// Returns the statement, which the server has prepared once a connection.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, Failure> {
        if self.statement.is_none() {
            self.statement = Some(self.client.prepare(sql).await?);
        }
        Ok(self.statement.clone().expect("it has just been prepared"))
    }

    /// Disconnects.
    pub async fn close(self) -> Result<(), Failure> {
        let Session { client, task, statement } = self;
        drop(statement);
        drop(client);
        task.await??;
        Ok(())
    }
}
