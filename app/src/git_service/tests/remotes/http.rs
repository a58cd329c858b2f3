//! A server on loopback that replies to every request in one way.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// The reply to every request.
#[derive(Clone, Copy, Debug)]
pub(super) enum HttpReply {
    /// A status without a body.
    Status(&'static str),
    /// The connection is closed.
    Nothing,
    /// The connection is closed in the middle of the body.
    HalfAnAnswer,
    /// To the same address.
    RedirectAround,
    /// To the same path of another server.
    RedirectTo(&'static str),
}

/// Starts a server that runs as long as this process; returns its port.
pub(super) fn serve(reply: HttpReply) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let target = target_of_request(&mut stream);
            // The client may have gone.
            stream.write_all(reply.text(&target).as_bytes()).ok();
        }
    });
    port
}

/// Reads the head of a request; returns the path that it asks for.
fn target_of_request(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    head.split(' ').nth(1).unwrap_or_default().to_owned()
}

impl HttpReply {
    fn text(self, target: &str) -> String {
        let head = |status: &str, line: &str| {
            format!("HTTP/1.1 {status}\r\n{line}Content-Length: 0\r\nConnection: close\r\n\r\n")
        };
        match self {
            Self::Status(status) => head(status, "WWW-Authenticate: Basic realm=\"r\"\r\n"),
            Self::Nothing => String::new(),
            Self::HalfAnAnswer => "HTTP/1.1 200 OK\r\n\
                Content-Type: application/x-git-upload-pack-advertisement\r\n\
                Content-Length: 1000\r\n\r\n\
                001e# service=git-upload-pack\n0000"
                .to_owned(),
            Self::RedirectAround => head("302 Found", &format!("Location: {target}\r\n")),
            Self::RedirectTo(server) => {
                head("302 Found", &format!("Location: {server}{target}\r\n"))
            }
        }
    }
}
