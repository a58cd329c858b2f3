//! Tests of real connections over loopback.

use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::super::tests::{accept_one, answer_all, until_closed};
use super::super::{HttpRequest, KeyHeader};
use super::*;
use crate::keys::Secret;

const SOON: Duration = Duration::from_secs(5);

fn call(url: String) -> HttpRequest {
    HttpRequest {
        method: Method::Post,
        url,
        headers: vec![("x-one".to_owned(), "1".to_owned())],
        key: Some(KeyHeader {
            name: "authorization".to_owned(),
            before: "Bearer ",
            secret: Secret::new("sk-canary"),
        }),
        body: bytes::Bytes::from_static(b"{}"),
    }
}

#[tokio::test]
async fn a_request_and_its_answer() {
    let (url, accepted) = accept_one().await;
    let socket = NetworkTransport::default();
    let reply = tokio::spawn(socket.call(call(format!("{url}/v1/x")), SOON));
    let (request, mut server) = accepted.await.expect("a request");
    assert!(request.starts_with("POST /v1/x HTTP/1.1\r\n"), "{request}");
    assert!(
        request.contains("authorization: Bearer sk-canary\r\n"),
        "{request}"
    );
    assert!(
        request.contains("x-one: 1\r\n") && request.ends_with("{}"),
        "{request}"
    );
    server
        .write_all(b"HTTP/1.1 200 OK\r\nX-Two: 2\r\ncontent-length: 2\r\n\r\nok")
        .await
        .expect("sent");
    let reply = reply.await.expect("no panic").expect("a reply");
    assert_eq!(reply.status, 200);
    assert!(
        reply
            .headers
            .contains(&("x-two".to_owned(), "2".to_owned()))
    );
    let body: Vec<_> = reply.body.collect().await;
    assert_eq!(body, [Ok(bytes::Bytes::from_static(b"ok"))]);
}

#[tokio::test]
async fn dropping_closes_the_socket_at_once() {
    for has_begun in [false, true] {
        let (url, accepted) = accept_one().await;
        let socket = NetworkTransport::default();
        let reply = tokio::spawn(socket.call(call(url), SOON));
        let (_, mut server) = accepted.await.expect("a request");
        if has_begun {
            let begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n";
            server.write_all(begun).await.expect("sent");
            let mut reply = reply.await.expect("no panic").expect("a reply");
            assert!(reply.body.next().await.is_some());
            drop(reply);
        } else {
            reply.abort();
        }
        let waited = until_closed(server).await;
        assert!(
            waited < Duration::from_millis(50),
            "begun {has_begun}: {waited:?}"
        );
    }
}

#[tokio::test]
async fn connection_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let failure = NetworkTransport::default()
        .call(call(format!("http://user:sk-canary@{address}/v1")), SOON)
        .await
        .expect_err("refused");
    assert_eq!(failure.class, FailureClass::Offline);
    assert!(failure.message.contains(&address.to_string()), "{failure}");
    assert!(
        failure.message.contains("Is the server running?"),
        "{failure}"
    );
    assert!(!failure.message.contains("sk-canary"), "{failure}");
}

#[tokio::test]
async fn invalid_header_error_hides_the_key() {
    let mut broken = call("http://127.0.0.1:1/".to_owned());
    broken.key = Some(KeyHeader {
        name: "authorization".to_owned(),
        before: "Bearer ",
        secret: Secret::new("sk-\u{0}canary"),
    });
    let failure = NetworkTransport::default()
        .call(broken, SOON)
        .await
        .expect_err("no header");
    assert_eq!(failure.class, FailureClass::Authentication);
    assert!(!failure.message.contains("canary"), "{failure}");
    let failure = NetworkTransport::default()
        .call(call("http://[".to_owned()), SOON)
        .await
        .expect_err("no address");
    assert_eq!(failure.class, FailureClass::InvalidRequest);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let url = answer_all(b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://elsewhere.example/\r\ncontent-length: 0\r\n\r\n").await;
    let reply = NetworkTransport::default()
        .call(call(url), SOON)
        .await
        .expect("a reply");
    assert_eq!(reply.status, 307);
}
