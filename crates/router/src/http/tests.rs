//! Tests of host names, and a small server shared by the tests of this module.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::*;

/// Accepts one connection, reads one request, and returns both.
pub(super) async fn accept_one() -> (String, oneshot::Receiver<(String, TcpStream)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a connection");
        let request = read_request(&mut socket).await;
        sender.send((request, socket)).expect("the test waits");
    });
    (format!("http://{address}"), receiver)
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = socket.read(&mut piece).await.expect("a request");
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().expect("a number"));
        if body.len() >= length {
            return text.into_owned();
        }
    }
}

/// Answers every connection with these bytes, then closes it.
pub(super) async fn answer_all(response: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            read_request(&mut socket).await;
            socket.write_all(response).await.expect("it listens");
        }
    });
    format!("http://{address}")
}

/// Returns the time until the peer closes the connection.
pub(super) async fn until_closed(mut socket: TcpStream) -> Duration {
    let started = Instant::now();
    let mut piece = [0; 64];
    loop {
        match socket.read(&mut piece).await {
            Ok(0) | Err(_) => return started.elapsed(),
            Ok(_) => {}
        }
    }
}

#[test]
fn hosts() {
    assert_eq!(
        host("https://user:pass@api.example:8443/v1?x"),
        "api.example:8443"
    );
    assert_eq!(host("http://localhost"), "localhost");
    for local in [
        "localhost",
        "localhost:80",
        "127.0.0.1:8080",
        "127.9.9.9",
        "[::1]:80",
        "a.localhost",
    ] {
        assert!(is_loopback(local), "{local}");
    }
    for other in [
        "example.com",
        "10.0.0.1",
        "127.0.0.1.example.com",
        "localhost.example.com",
        "[fe80::1]",
        "",
    ] {
        assert!(!is_loopback(other), "{other}");
    }
}
