//! The ways to the background process: the socket of this machine, or a command that leads to another
//! machine.
//!
//! Invariant: the output of the command before the mark of the proxy is skipped, and its error output is
//! only shown.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use base::{LineFeeds, printable};
use host::process::{LiveProcess, ProcessExit, ProcessGroup};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, BufReader,
    ReadBuf,
};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

use crate::Error;
use crate::connection::{read_message, write_message};
use crate::launch::{LocalServer, check_version};
use crate::machine::AgentMachine;
use crate::protocol::Hello;
use crate::proxy::MARK;

/// Time for the command to connect, and for the process to start there and say hello.
const CONNECT_TIME: Duration = Duration::from_secs(60);
/// Time for a command that failed to end.
const END_TIME: Duration = Duration::from_secs(2);
/// Size of the text before the mark that is skipped, in bytes.
const MAX_BANNER_BYTES: usize = 64 << 10;
/// Size of the error output that is kept, in bytes.
const MAX_ERROR_BYTES: usize = 4096;
/// Length of the part of it that is shown, in characters.
const MAX_SHOWN: usize = 300;
/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// The way to a background process.
pub(super) enum Connector {
    Local(LocalServer),
    Remote(AgentMachine),
}

/// A connection to the process, past the hello.
pub(super) struct ServerConnection {
    pub(super) reader: ServerReader,
    pub(super) writer: ServerWriter,
    pub(super) server: Hello,
    /// The command whose pipes these are; it is killed with the connection.
    pub(super) command: Option<ProcessGroup>,
}

/// The messages of the process.
pub(super) enum ServerReader {
    Socket(OwnedReadHalf),
    Pipe(BufReader<ChildStdout>),
}

/// The way of messages to the process.
pub(super) enum ServerWriter {
    Socket(OwnedWriteHalf),
    Pipe(ChildStdin),
}

impl Connector {
    /// Whether the process runs on another machine.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// Connects to the process. A local one is started only if it `is_needed`; an idle one of a program
    /// file that was replaced is ended first, unless `is_known` from a former connection. On another
    /// machine the proxy does both.
    pub(super) async fn connect(
        &self,
        hello: &Hello,
        is_needed: bool,
        is_known: bool,
    ) -> Result<ServerConnection, Error> {
        match self {
            Self::Local(local) => {
                let (stream, server) = local.connect(hello, is_needed).await?;
                if !is_known && local.end_replaced(&server, hello).await? {
                    return Err(Error::NotRunning);
                }
                let (reader, writer) = stream.into_split();
                Ok(ServerConnection {
                    reader: ServerReader::Socket(reader),
                    writer: ServerWriter::Socket(writer),
                    server,
                    command: None,
                })
            }
            Self::Remote(machine) => run_command(machine, hello).await,
        }
    }

    /// Returns the sentence for requests that fail because of `error`.
    pub(super) fn failure(&self, error: &Error) -> String {
        match self {
            Self::Local(_) => format!(
                "The background process for agents does not start: {error}. Turn `agents.background` off to run agents in the window."
            ),
            Self::Remote(machine) => format!(
                "The machine \"{}\" cannot be reached: {error}.",
                machine.name()
            ),
        }
    }
}

/// Starts the command that leads to a machine, and greets the process there.
async fn run_command(machine: &AgentMachine, hello: &Hello) -> Result<ServerConnection, Error> {
    let LiveProcess {
        input,
        output,
        errors,
        group,
    } = host::process::start(&machine.command())?;
    let mut writer = ChildStdin::from_std(input)?;
    let mut reader = BufReader::new(ChildStdout::from_std(output)?);
    let errors = tokio::spawn(read_errors(ChildStderr::from_std(errors)?));
    let greeting = async {
        skip_to_mark(&mut reader).await?;
        write_message(&mut writer, hello).await?;
        let server = read_message(&mut reader).await?.ok_or(Error::NotRunning)?;
        check_version(&server)?;
        Ok::<_, Error>(server)
    };
    let server = match tokio::time::timeout(CONNECT_TIME, greeting).await {
        Ok(Ok(server)) => server,
        Ok(Err(error)) if error.is_other_version() => return Err(error),
        Ok(Err(error)) => {
            drop(writer);
            let why = explain(machine, &group, errors).await;
            return Err(why.map_or(error, Error::Unreachable));
        }
        Err(_) => {
            let seconds = CONNECT_TIME.as_secs();
            let why = format!("there was no answer within {seconds} s");
            return Err(Error::Unreachable(why));
        }
    };
    Ok(ServerConnection {
        reader: ServerReader::Pipe(reader),
        writer: ServerWriter::Pipe(writer),
        server,
        command: Some(group),
    })
}

/// Skips the text that a login shell prints before the proxy starts, and the mark of the proxy.
async fn skip_to_mark(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<(), Error> {
    let mut left = MAX_BANNER_BYTES as u64;
    let mut line = Vec::new();
    while left > 0 {
        line.clear();
        let mut limited = (&mut *reader).take(left);
        let count = limited.read_until(b'\n', &mut line).await?;
        if line.ends_with(MARK) {
            return Ok(());
        }
        if count == 0 {
            break;
        }
        left = left.saturating_sub(count as u64);
    }
    Err(Error::Unreadable(
        "it does not begin as expected".to_owned(),
    ))
}

/// Reads the error output until its end, and returns its last part.
async fn read_errors(mut errors: ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut piece = vec![0; MAX_ERROR_BYTES];
    while let Ok(count @ 1..) = errors.read(&mut piece).await {
        kept.extend_from_slice(piece.get(..count).unwrap_or_default());
        let over = kept.len().saturating_sub(MAX_ERROR_BYTES);
        kept.drain(..over);
    }
    kept
}

/// Returns why a command failed, in its own words; `None` if it said nothing.
async fn explain(
    machine: &AgentMachine,
    group: &ProcessGroup,
    errors: JoinHandle<Vec<u8>>,
) -> Option<String> {
    let exit = tokio::time::timeout(END_TIME, group.wait()).await.ok();
    let said = tokio::time::timeout(END_TIME, errors).await.ok();
    if exit == Some(ProcessExit::Exited(NOT_FOUND)) {
        return Some(format!(
            "the program `{}` is not there: install Burin on that machine, or set \"program\" in `agents.machines`",
            machine.program()
        ));
    }
    let said = said.and_then(Result::ok).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let line = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|it| !it.is_empty())?;
    let line = line.strip_prefix("burin-agent: ").unwrap_or(line);
    let line = printable(line.trim_end_matches('.'), LineFeeds::Escape);
    Some(line.chars().take(MAX_SHOWN).collect())
}

impl AsyncRead for ServerReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(reader) => Pin::new(reader).poll_read(cx, buffer),
            Self::Pipe(reader) => Pin::new(reader).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for ServerWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Socket(writer) => Pin::new(writer).poll_write(cx, bytes),
            Self::Pipe(writer) => Pin::new(writer).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(writer) => Pin::new(writer).poll_flush(cx),
            Self::Pipe(writer) => Pin::new(writer).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Socket(writer) => Pin::new(writer).poll_shutdown(cx),
            Self::Pipe(writer) => Pin::new(writer).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &[u8]) -> (Result<(), Error>, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let mut rest = text;
        let skipped = runtime
            .expect("a runtime")
            .block_on(skip_to_mark(&mut rest));
        (skipped, rest.to_vec())
    }

    #[test]
    fn text_of_a_login_shell_is_skipped() {
        for banner in ["", "Welcome\n", "two\nlines\n", "no line feed"] {
            let text = [banner.as_bytes(), MARK, b"rest"].concat();
            let (skipped, rest) = skipped(&text);
            assert!(skipped.is_ok(), "{banner}");
            assert_eq!(rest, b"rest");
        }
        for text in [&b"Welcome\n"[..], b"", &[b'x'; 100_000], &[b'\n'; 100_000]] {
            assert!(skipped(text).0.is_err());
        }
    }
}
