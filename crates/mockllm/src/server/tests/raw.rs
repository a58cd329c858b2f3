//! A raw client: it writes a request and returns the received bytes.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

use crate::MockServer;

/// A received response.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) end: RawEnd,
}

/// The end of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawEnd {
    /// The body is complete.
    Complete,
    /// The connection closed before the body was complete.
    Closed,
    /// The connection was reset.
    Reset,
    /// The read timed out.
    Silent,
}

impl Raw {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the data of every server-sent event that is JSON, in order.
    pub(super) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }

    /// Returns the names of the events; adjacent repetitions are merged.
    pub(super) fn names(&self) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("event: "));
        let mut names: Vec<String> = lines.map(str::to_owned).collect();
        names.dedup();
        names
    }
}

/// Opens a connection and sends a request without reading the response.
pub(super) fn send(
    server: &MockServer,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(2)))
        .expect("a socket");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    stream.write_all(body).expect("it reads");
    stream
}

/// Reads a response to its end.
pub(super) fn receive(mut stream: TcpStream) -> Raw {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1 << 14];
    let mut end = loop {
        match stream.read(&mut buffer) {
            Ok(0) => break RawEnd::Closed,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break RawEnd::Reset,
            Err(_) => break RawEnd::Silent,
        }
    };
    let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Raw {
            status: 0,
            headers: Vec::new(),
            body: bytes,
            end,
        };
    };
    let head = String::from_utf8(bytes[..at].to_vec()).expect("a head");
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let rest = &bytes[at + 4..];
    let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
    let (body, is_complete) = if is_chunked {
        dechunk(rest)
    } else {
        (rest.to_vec(), true)
    };
    if is_complete {
        end = RawEnd::Complete;
    }
    Raw {
        status: status.expect("a status"),
        headers,
        body,
        end,
    }
}

/// Returns the bytes of a chunked body, and whether it is complete.
fn dechunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(at) = rest.windows(2).position(|window| window == b"\r\n") {
        let line = std::str::from_utf8(&rest[..at]).expect("a chunk's size");
        let size = usize::from_str_radix(line, 16).expect("a chunk's size");
        if size == 0 {
            return (body, true);
        }
        let chunk = &rest[at + 2..];
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

/// Posts JSON and reads the answer.
pub(super) fn post(server: &MockServer, path: &str, body: &Value) -> Raw {
    post_with(server, path, "", body)
}

/// Posts JSON with more headers, each ended by `\r\n`.
pub(super) fn post_with(server: &MockServer, path: &str, headers: &str, body: &Value) -> Raw {
    let headers = format!("content-type: application/json\r\n{headers}");
    let body = body.to_string();
    receive(send(server, "POST", path, &headers, body.as_bytes()))
}
