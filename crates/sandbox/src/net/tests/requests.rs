//! Tests of request heads and ClientHello messages, complete, malformed and split anywhere.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::super::client_hello::{self, ClientHello};
use super::super::request::{BodyLength, ProxyRequestKind, parse};

fn asked(head: &str) -> Result<(String, u16), String> {
    parse(head.as_bytes())
        .map(|request| (request.host.to_string(), request.port))
        .map_err(|bad| bad.to_string())
}

fn check(head: &str, host: &str, port: u16) {
    assert_eq!(asked(head), Ok((host.to_owned(), port)), "{head:?}");
}

#[test]
fn requests_are_parsed() {
    check(
        "CONNECT example.com:443 HTTP/1.1\r\n\r\n",
        "example.com",
        443,
    );
    check("CONNECT [::1]:22 HTTP/1.0\r\nHost: x\r\n\r\n", "[::1]", 22);
    check(
        "GET http://example.com/a HTTP/1.1\r\n\r\n",
        "example.com",
        80,
    );
    check(
        "GET HTTP://EXAMPLE.com:8080?q HTTP/1.1\r\n\r\n",
        "example.com",
        8080,
    );
}

#[test]
fn malformed_heads_are_refused() {
    for head in [
        "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        "GET https://example.com/ HTTP/1.1\r\n\r\n",
        "GET ftp://example.com/ HTTP/1.1\r\n\r\n",
        "GET http://user@example.com/ HTTP/1.1\r\n\r\n",
        "GET http://example.com@evil.com/ HTTP/1.1\r\n\r\n",
        "GET http://evil.com\0.example.com/ HTTP/1.1\r\n\r\n",
        "GET http://evil.com%00.example.com/ HTTP/1.1\r\n\r\n",
        "GET http://evil.com\\example.com/ HTTP/1.1\r\n\r\n",
        "GET http:///path HTTP/1.1\r\n\r\n",
        "GET http://example.com/ HTTP/2.0\r\n\r\n",
        "GET http://example.com/ HTTP/1.1 x\r\n\r\n",
        "GET  http://example.com/ HTTP/1.1\r\n\r\n",
        "GET\thttp://example.com/ HTTP/1.1\r\n\r\n",
        "GET http://example.com/\r\n\r\n",
        "G(T http://example.com/ HTTP/1.1\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\n\n",
        "GET http://example.com/ HTTP/1.1\r\nA: b\nHost: x\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA: b\rHost: x\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA : b\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\n: b\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA: \0\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "POST http://example.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "CONNECT example.com HTTP/1.1\r\n\r\n",
        "CONNECT example.com: HTTP/1.1\r\n\r\n",
        "CONNECT example.com:443:443 HTTP/1.1\r\n\r\n",
        "CONNECT example.com:https HTTP/1.1\r\n\r\n",
        "CONNECT http://example.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT user@example.com:443 HTTP/1.1\r\n\r\n",
        "CONNECT example.com:99999 HTTP/1.1\r\n\r\n",
        "CONNECT ::1:443 HTTP/1.1\r\n\r\n",
        "connect example.com:443 HTTP/1.1\r\n\r\n",
        "\r\n\r\n",
        "",
    ] {
        assert!(asked(head).is_err(), "{head:?} is {:?}", asked(head));
    }
}

#[test]
fn a_forwarded_head_names_only_the_checked_host() {
    let head = "POST http://example.com:8080/a?b#c HTTP/1.1\r\nHost: evil.com\r\nConnection: X-Secret, close\r\n\
                Proxy-Authorization: Basic x\r\nX-Secret: y\r\nUpgrade: h2c\r\nContent-Length: 3\r\nAccept: */*\r\n\r\n";
    let request = parse(head.as_bytes()).expect("a request");
    let ProxyRequestKind::Forward { head, body } = request.kind else {
        panic!("it is forwarded");
    };
    assert_eq!(body, BodyLength::Length(3));
    assert_eq!(
        String::from_utf8(head).expect("text"),
        "POST /a?b HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
    );
}

/// Returns a ClientHello of TLS 1.2 that names a host, in records of at most `most` bytes.
pub(super) fn client_hello(name: Option<&str>, most: usize) -> Vec<u8> {
    let mut hello = vec![3, 3];
    hello.extend([7; 32]);
    hello.push(0);
    hello.extend([0, 2, 0x13, 1]);
    hello.extend([1, 0]);
    let mut extensions = vec![0, 0x17, 0, 0];
    if let Some(name) = name {
        let length = u16::try_from(name.len()).expect("a short name");
        extensions.extend([0, 0]);
        extensions.extend((length + 5).to_be_bytes());
        extensions.extend((length + 3).to_be_bytes());
        extensions.push(0);
        extensions.extend(length.to_be_bytes());
        extensions.extend(name.as_bytes());
    }
    hello.extend(
        u16::try_from(extensions.len())
            .expect("short")
            .to_be_bytes(),
    );
    hello.extend(extensions);
    let mut message = vec![1, 0];
    message.extend(u16::try_from(hello.len()).expect("short").to_be_bytes());
    message.extend(hello);
    let mut bytes = Vec::new();
    for part in message.chunks(most) {
        bytes.extend([0x16, 3, 1]);
        bytes.extend(u16::try_from(part.len()).expect("short").to_be_bytes());
        bytes.extend(part);
    }
    bytes
}

#[test]
fn the_server_name_is_found_across_records() {
    for most in [1, 2, 3, 7, 40, 1000] {
        let bytes = client_hello(Some("example.com"), most);
        for end in 0..bytes.len() {
            assert_eq!(
                client_hello::read(&bytes[..end]),
                ClientHello::Incomplete,
                "{most} {end}"
            );
        }
        assert_eq!(
            client_hello::read(&bytes),
            ClientHello::ServerName("example.com".to_owned())
        );
        let mut more = bytes.clone();
        more.extend(b"\x17\x03\x03\0\x01x");
        assert_eq!(
            client_hello::read(&more),
            ClientHello::ServerName("example.com".to_owned())
        );
    }
    assert_eq!(
        client_hello::read(&client_hello(None, 1000)),
        ClientHello::NoServerName
    );
    assert_eq!(client_hello::read(b"SSH-2.0"), ClientHello::NotTls);
    assert_eq!(
        client_hello::read(b"\x16\x02\x01\0\x01\x01"),
        ClientHello::Malformed
    );
}

#[test]
fn random_bytes_never_panic_the_parsers() {
    let hello = client_hello(Some("example.com"), 30);
    let head = b"POST http://example.com:8080/a HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\n";
    for seed in 0..50_000u64 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut bytes = hello.clone();
        let mut text = head.to_vec();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
            let at = random.random_range(0..text.len());
            text[at] = random.random();
        }
        bytes.truncate(random.random_range(0..=bytes.len()));
        client_hello::read(&bytes);
        if let Ok(request) = parse(&text)
            && let ProxyRequestKind::Forward { head, .. } = request.kind
        {
            let head = String::from_utf8(head).expect("text");
            let hosts = head.matches("\r\nHost: ").count();
            assert_eq!(hosts, 1, "seed {seed}: {head:?}");
            assert_eq!(head.matches("\r\n\r\n").count(), 1, "seed {seed}: {head:?}");
        }
    }
}
