//! A language server that answers each request with the next part of an input.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Connects the two ends of a server that answers `initialize` with `capabilities`, and later requests with `answers`,
/// whose texts need not be JSON. Once there is none left, it answers `null`.
pub fn scripted_server(
    capabilities: String,
    answers: VecDeque<String>,
) -> (ServerInput, ServerOutput) {
    let (sender, receiver) = channel();
    let input = ServerInput {
        unread: Vec::new(),
        capabilities: Some(capabilities),
        answers,
        sender,
    };
    let output = ServerOutput {
        receiver,
        unread: VecDeque::new(),
    };
    (input, output)
}

/// The input of the server.
pub struct ServerInput {
    unread: Vec<u8>,
    /// `None` once the server is initialized.
    capabilities: Option<String>,
    answers: VecDeque<String>,
    sender: Sender<Vec<u8>>,
}

/// The output of the server. It ends with its input.
pub struct ServerOutput {
    receiver: Receiver<Vec<u8>>,
    unread: VecDeque<u8>,
}

impl ServerInput {
    fn handle(&mut self, message: &serde_json::Value) {
        let is_request = message.get("method").is_some();
        let Some(id) = message.get("id").filter(|_| is_request) else {
            return;
        };
        let capabilities = self.capabilities.take();
        let result = match capabilities {
            Some(capabilities) => format!(r#"{{"capabilities":{capabilities}}}"#),
            None => self.answers.pop_front().unwrap_or("null".to_owned()),
        };
        self.send(&format!(r#"{{"id":{id},"result":{result}}}"#));
        // If that was no message, this is the answer.
        self.send(&format!(
            r#"{{"id":{id},"error":{{"code":1,"message":"m"}}}}"#
        ));
    }

    fn send(&self, body: &str) {
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        // The client may be gone.
        self.sender.send(frame.into_bytes()).ok();
    }

    /// Takes the next whole message from the bytes that the client wrote.
    fn next(&mut self) -> Option<serde_json::Value> {
        let end = self.unread.windows(4).position(|it| it == b"\r\n\r\n")?;
        let header = String::from_utf8_lossy(&self.unread[..end]).into_owned();
        let length = header.split("Content-Length: ").nth(1)?;
        let length: usize = length.split("\r\n").next()?.parse().ok()?;
        let (start, end) = (end + 4, end + 4 + length);
        let body = self.unread.get(start..end)?;
        let message = serde_json::from_slice(body).expect("JSON of the client");
        self.unread.drain(..end);
        Some(message)
    }
}

impl Write for ServerInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unread.extend_from_slice(bytes);
        while let Some(message) = self.next() {
            self.handle(&message);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for ServerOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread.is_empty() {
            // Without a sender, the output has ended.
            self.unread.extend(self.receiver.recv().unwrap_or_default());
        }
        self.unread.read(buffer)
    }
}
