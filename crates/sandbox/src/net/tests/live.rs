//! Tests of the running proxy, with a fake resolver and servers on loopback.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::super::Proxy;
use super::super::resolve::Resolver;
use super::requests::client_hello;
use crate::{DenialLog, DeniedAccess, HostRule};

/// A resolver that answers with one list of addresses after the other, and repeats the last one.
struct Fake {
    names: Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Resolver for Fake {
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut names = self.names.lock().expect("the names");
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(match answers.len() {
            1 => answers[0].clone(),
            _ => answers.remove(0),
        })
    }
}

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn fake(names: &[(&'static str, &[&[&str]])]) -> Arc<Fake> {
    let parse = |text: &&str| text.parse().expect("an address");
    let names = names.iter().map(|(name, answers)| {
        let answers = answers.iter().map(|list| list.iter().map(parse).collect());
        (*name, answers.collect())
    });
    Arc::new(Fake {
        names: Mutex::new(names.collect()),
        asked: AtomicUsize::new(0),
    })
}

struct Scene {
    proxy: Option<Proxy>,
    denials: DenialLog,
    door: SocketAddr,
    /// The bytes that the server received, per connection.
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
    server: u16,
}

/// Starts a server that answers once it received something, and a proxy with these rules; `PORT` in
/// a rule is the server's.
fn scene(rules: &[&str], resolve: Arc<Fake>) -> Scene {
    let listener = TcpListener::bind((HERE, 0)).expect("a server");
    let server = listener.local_addr().expect("its address").port();
    let heard: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let theirs = Arc::clone(&heard);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let theirs = Arc::clone(&theirs);
            thread::spawn(move || answer(stream, &theirs));
        }
    });
    let rules = rules.iter().map(|rule| {
        let rule = rule.replace("PORT", &server.to_string());
        rule.parse().expect("a rule")
    });
    let rules: Vec<HostRule> = rules.collect();
    let listener = TcpListener::bind((HERE, 0)).expect("a door");
    let door = listener.local_addr().expect("its address");
    let denials = DenialLog::default();
    let proxy = Proxy::start_with(listener, &rules, denials.clone(), resolve);
    Scene {
        proxy: Some(proxy.expect("a proxy")),
        denials,
        door,
        heard,
        server,
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Vec<Vec<u8>>>) {
    let at = {
        let mut heard = heard.lock().expect("what was heard");
        heard.push(Vec::new());
        heard.len() - 1
    };
    // Long enough for forbidden bytes to arrive; then the server is done.
    let patience = Some(Duration::from_millis(300));
    stream.set_read_timeout(patience).expect("a deadline");
    let mut buffer = [0; 4096];
    let mut is_answered = false;
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        heard.lock().expect("what was heard")[at].extend_from_slice(&buffer[..count]);
        if !is_answered {
            is_answered = true;
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")
                .ok();
        }
    }
}

impl Scene {
    /// Sends, shuts down the sending half, and reads to the end.
    fn ask(&self, parts: &[&[u8]]) -> String {
        let mut stream = TcpStream::connect(self.door).expect("the proxy");
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("a deadline");
        for part in parts {
            let text = String::from_utf8_lossy(part);
            let named = text.replace("PORT", &self.server.to_string()).into_bytes();
            let part = if text.contains("PORT") {
                named
            } else {
                part.to_vec()
            };
            // A proxy that refuses may close before everything is sent.
            stream.write_all(&part).ok();
        }
        stream.shutdown(std::net::Shutdown::Write).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn heard(&self) -> Vec<String> {
        let heard = self.heard.lock().expect("what was heard");
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        heard.iter().map(text).collect()
    }

    fn denied(&mut self) -> Vec<(String, u16)> {
        drop(self.proxy.take());
        let of = |denied| match denied {
            DeniedAccess::Host { host, port } => (host, port),
            other => panic!("{other:?}"),
        };
        self.denials.drain().into_iter().map(of).collect()
    }
}

const GET: &[u8] = b"GET http://allowed.example:PORT/x HTTP/1.1\r\nHost: evil.example\r\n\r\n";

#[test]
fn a_listed_host_sees_only_its_own_name() {
    let resolve = fake(&[("allowed.example", &[&["127.0.0.1"]])]);
    let mut scene = scene(&["allowed.example:PORT", "127.0.0.1:PORT"], resolve);
    let answer = scene.ask(&[GET, b"GET http://evil.example/ HTTP/1.1\r\n\r\n"]);
    assert!(answer.ends_with("hello"), "{answer}");
    let port = scene.server;
    assert_eq!(
        scene.heard(),
        [format!(
            "GET /x HTTP/1.1\r\nHost: allowed.example:{port}\r\nConnection: close\r\n\r\n"
        )]
    );
    assert_eq!(scene.denied(), []);
}

#[test]
fn an_empty_list_reaches_nothing() {
    let mut scene = scene(&[], fake(&[("allowed.example", &[&["127.0.0.1"]])]));
    assert!(scene.ask(&[GET]).starts_with("HTTP/1.1 403 "));
    let tunnel = scene.ask(&[b"CONNECT 127.0.0.1:PORT HTTP/1.1\r\n\r\n"]);
    assert!(tunnel.starts_with("HTTP/1.1 403 "), "{tunnel}");
    assert_eq!(scene.heard(), Vec::<String>::new());
    let port = scene.server;
    let expected = [
        ("allowed.example".to_owned(), port),
        ("127.0.0.1".to_owned(), port),
    ];
    assert_eq!(scene.denied(), expected);
}

#[test]
fn a_name_reaches_loopback_only_if_its_address_is_listed() {
    for address in [
        "127.0.0.1",
        "::ffff:127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "64:ff9b::7f00:1",
        "0.0.0.0",
    ] {
        let resolve = fake(&[("allowed.example", &[])]);
        let list = vec![address.parse().expect("an address")];
        let names = [("allowed.example", vec![list])].into_iter().collect();
        *resolve.names.lock().expect("the names") = names;
        let mut scene = scene(&["allowed.example:PORT"], resolve);
        let answer = scene.ask(&[GET]);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{address}: {answer}");
        assert_eq!(scene.heard().len(), 0, "{address}");
        assert_eq!(scene.denied().len(), 1, "{address}");
    }
}

#[test]
fn a_name_is_resolved_once_per_connection() {
    // The second answer would be refused, and the third is the target of DNS rebinding.
    let resolve = fake(&[("allowed.example", &[&["127.0.0.1"], &["169.254.169.254"]])]);
    let mut scene = scene(
        &["allowed.example:PORT", "127.0.0.1:PORT"],
        Arc::clone(&resolve),
    );
    assert!(scene.ask(&[GET]).ends_with("hello"));
    assert_eq!(resolve.asked.load(Ordering::Relaxed), 1);
    assert!(scene.ask(&[GET]).starts_with("HTTP/1.1 403 "));
    assert_eq!(scene.heard().len(), 1);
    assert_eq!(scene.denied().len(), 1);
}

#[test]
fn only_allowed_addresses_are_tried() {
    let resolve = fake(&[("allowed.example", &[&["10.255.255.1", "127.0.0.1", "::1"]])]);
    let scene = scene(&["allowed.example:PORT", "127.0.0.1:PORT"], resolve);
    assert!(scene.ask(&[GET]).ends_with("hello"));
}

#[test]
fn an_unknown_name_fails_without_a_denial() {
    let mut scene = scene(&["allowed.example:PORT"], fake(&[]));
    assert!(scene.ask(&[GET]).starts_with("HTTP/1.1 502 "));
    assert_eq!(scene.denied(), []);
}

#[test]
fn a_tunnel_requires_a_matching_tls_server_name() {
    let resolve = fake(&[("allowed.example", &[&["127.0.0.1"]])]);
    let mut scene = scene(&["allowed.example:PORT", "127.0.0.1:PORT"], resolve);
    let connect = b"CONNECT allowed.example:PORT HTTP/1.1\r\n\r\n";
    let fits = client_hello(Some("ALLOWED.example"), 20);
    let answer = scene.ask(&[connect, &fits, b"more"]);
    assert!(answer.ends_with("hello"), "{answer}");
    let other = client_hello(Some("evil.example"), 1000);
    let answer = scene.ask(&[connect, &other]);
    assert!(!answer.contains("hello"), "{answer}");
    let heard = scene.heard();
    assert!(heard[0].ends_with("more"), "{heard:?}");
    assert!(heard[1..].iter().all(String::is_empty), "{heard:?}");
    let port = scene.server;
    assert_eq!(scene.denied(), [("evil.example".to_owned(), port)]);
}

#[test]
fn socks_follows_the_same_rules() {
    let resolve = fake(&[("allowed.example", &[&["127.0.0.1"]])]);
    let mut scene = scene(&["allowed.example:PORT", "127.0.0.1:PORT"], resolve);
    let port = scene.server.to_be_bytes();
    let by_name = |name: &str| {
        let mut bytes = vec![
            5,
            1,
            0,
            5,
            1,
            0,
            3,
            u8::try_from(name.len()).expect("short"),
        ];
        bytes.extend(name.as_bytes());
        bytes.extend(port);
        bytes
    };
    let good = scene.ask(&[&by_name("allowed.example"), b"GET / HTTP/1.1\r\n\r\n"]);
    assert!(good.ends_with("hello"), "{good}");
    for name in [
        "evil.example",
        "evil\0.allowed.example",
        "0x7f.1",
        "[::1]",
        "localhost",
    ] {
        let bad = scene.ask(&[&by_name(name), b"GET / HTTP/1.1\r\n\r\n"]);
        assert_eq!(bad.as_bytes().get(3), Some(&2), "{name:?}: {bad:?}");
    }
    assert_eq!(scene.heard().len(), 1);
    assert_eq!(scene.denied().len(), 5);
}

#[test]
fn bodies_end_at_their_length() {
    let resolve = fake(&[]);
    let scene = scene(&["127.0.0.1:PORT"], resolve);
    let head = b"POST http://127.0.0.1:PORT/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let sneaky = b"3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\nGET / HTTP/1.1\r\nHost: evil\r\n\r\n";
    scene.ask(&[head, sneaky]);
    let exact = b"POST http://127.0.0.1:PORT/ HTTP/1.1\r\nContent-Length: 2\r\n\r\nokGET / HTTP/1.1\r\n\r\n";
    scene.ask(&[exact]);
    let broken = b"3\nabc\r\n0\r\n\r\n";
    scene.ask(&[head, broken]);
    let heard = scene.heard();
    assert!(
        heard[0].ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
        "{heard:?}"
    );
    assert!(heard[1].ends_with("\r\n\r\nok"), "{heard:?}");
    assert!(
        heard.get(2).is_none_or(|heard| !heard.contains("abc")),
        "{heard:?}"
    );
}

#[test]
fn malformed_requests_are_refused_and_recorded() {
    let mut scene = scene(&["allowed.example", "*.allowed.example"], fake(&[]));
    for request in [
        &b"CONNECT evil.example\0.allowed.example:443 HTTP/1.1\r\n\r\n"[..],
        b"CONNECT evil.example%00.allowed.example:443 HTTP/1.1\r\n\r\n",
        b"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n",
        b"GET http://allowed.example@evil.example/ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00\r\n\r\n",
    ] {
        let answer = scene.ask(&[request]);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request:?}: {answer}");
    }
    assert_eq!(scene.denied().len(), 7);
}

#[test]
fn dropping_the_proxy_closes_its_connections() {
    let mut scene = scene(&["127.0.0.1:PORT"], fake(&[]));
    let mut stream = TcpStream::connect(scene.door).expect("the proxy");
    let port = scene.server;
    write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n").expect("sent");
    let mut answer = [0; 16];
    stream.read_exact(&mut answer).expect("an answer");
    scene.denied();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).ok();
    assert!(TcpStream::connect(scene.door).is_err());
}

#[test]
fn an_invalid_rule_prevents_the_proxy_start() {
    let listener = TcpListener::bind((HERE, 0)).expect("a door");
    let bad = HostRule {
        host: "evil.com\0.example.com".to_owned(),
        ports: Vec::new(),
    };
    let error = Proxy::start(listener, &[bad], DenialLog::default()).expect_err("a bad rule");
    assert!(
        error
            .to_string()
            .contains("which a host name cannot contain"),
        "{error}"
    );
}
