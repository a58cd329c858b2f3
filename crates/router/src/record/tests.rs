//! Tests that recordings replay byte for byte and contain no key.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass};
use tokio::time::{Instant, sleep};

use super::*;
use crate::http::{ConnectionBroken, HttpRequest, HttpResponse, KeyHeader, Method, Transport};
use crate::keys::Secret;

const KEY: &str = "sk-canary-42";

/// Sends these chunks a second apart, then ends or breaks.
struct Live {
    pieces: Vec<Vec<u8>>,
    breaks: bool,
}

impl Transport for Live {
    fn call(
        &self,
        _call: HttpRequest,
        _connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let pieces = self.pieces.clone();
        let end = self
            .breaks
            .then(|| Err(ConnectionBroken(format!("reset by {KEY}"))));
        let body = stream::iter(pieces).then(|piece| async move {
            sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from(piece))
        });
        let reply = HttpResponse {
            status: 200,
            headers: vec![
                ("x-echo".to_owned(), KEY.to_owned()),
                ("set-cookie".to_owned(), "s=1".to_owned()),
            ],
            body: body.chain(stream::iter(end)).boxed(),
        };
        std::future::ready(Ok(reply)).boxed()
    }
}

fn call(body: &'static str) -> HttpRequest {
    HttpRequest {
        method: Method::Post,
        url: "https://me:pw@api.maker.example/v1/x?y=1".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        key: Some(KeyHeader {
            name: "authorization".to_owned(),
            before: "Bearer ",
            secret: Secret::new(KEY),
        }),
        body: Bytes::from(body),
    }
}

async fn record(live: Live, take: usize) -> Recording {
    let kept: Arc<Mutex<Vec<Recording>>> = Arc::default();
    let sink = kept.clone();
    let recorder = Recorder::new(Arc::new(live), move |recording| {
        sink.lock().expect("lock").push(recording);
    });
    let reply = recorder
        .call(call("{\"a\":1}"), Duration::ZERO)
        .await
        .expect("a reply");
    let pieces: Vec<_> = reply.body.take(take).collect().await;
    assert!(!pieces.is_empty());
    let last = kept.lock().expect("lock").pop();
    last.expect("given away when it ends")
}

fn pieces() -> Vec<Vec<u8>> {
    let crab = "🦀".as_bytes();
    vec![
        b"data: a\n".to_vec(),
        crab[..2].to_vec(),
        crab[2..].to_vec(),
        Vec::new(),
        b"\n\n".to_vec(),
    ]
}

#[tokio::test(start_paused = true)]
async fn replay_preserves_bytes_and_timing() {
    let recording = record(
        Live {
            pieces: pieces(),
            breaks: false,
        },
        99,
    )
    .await;
    assert_eq!(recording.end, RecordingEnd::Complete);
    let text = recording.to_json();
    let read = Recording::from_json(&text).expect("reads");
    assert_eq!(read, recording);
    assert_eq!(read.to_json(), text);
    for (pace, seconds) in [(ReplayPace::Instant, 0), (ReplayPace::Recorded, 5)] {
        let replay = ReplayTransport::new(vec![read.clone()], pace);
        let started = Instant::now();
        let reply = replay
            .call(call("{\"a\":1}"), Duration::ZERO)
            .await
            .expect("a reply");
        let replayed: Vec<_> = reply
            .body
            .map(|piece| piece.expect("whole").to_vec())
            .collect()
            .await;
        assert_eq!(replayed, pieces());
        assert_eq!(started.elapsed().as_secs(), seconds);
        assert_eq!(replay.remaining(), 0);
        let again = replay
            .call(call("{\"a\":1}"), Duration::ZERO)
            .await
            .expect_err("played once");
        assert_eq!(again.class, FailureClass::InvalidRequest);
    }
    let replay = ReplayTransport::new(vec![read], ReplayPace::Instant);
    assert!(
        replay
            .call(call("{\"a\":2}"), Duration::ZERO)
            .await
            .is_err(),
        "another body"
    );
}

#[tokio::test(start_paused = true)]
async fn recording_contains_no_key() {
    let (one, two) = KEY.split_at(5);
    let said = vec![
        format!("you said {one}").into_bytes(),
        format!("{two} and {KEY}").into_bytes(),
    ];
    let recording = record(
        Live {
            pieces: said.clone(),
            breaks: true,
        },
        99,
    )
    .await;
    let text = recording.to_json();
    assert!(
        !text.contains(KEY) && !text.contains("me:pw") && !text.contains("s=1"),
        "{text}"
    );
    assert!(!String::from_utf8_lossy(&recording.body()).contains(KEY));
    let lengths: Vec<usize> = recording
        .chunks
        .iter()
        .map(|chunk| chunk.bytes.len())
        .collect();
    assert_eq!(lengths, [said[0].len(), said[1].len()]);
    assert!(text.contains("Bearer <key>"), "{text}");
    assert_eq!(recording.line, "POST https://api.maker.example/v1/x?y=1");
    assert_eq!(
        recording.end,
        RecordingEnd::Broken("reset by <key>".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn dropped_answer_is_recorded_up_to_the_drop() {
    let recording = record(
        Live {
            pieces: pieces(),
            breaks: false,
        },
        2,
    )
    .await;
    assert_eq!(recording.end, RecordingEnd::Dropped);
    assert_eq!(recording.chunks.len(), 2);
}

#[test]
fn invalid_recording_is_reported() {
    assert!(Recording::from_json("{}").is_err());
    assert!(Recording::from_json("").is_err());
    let other = r#"{"version":2,"request":{"line":"","headers":[],"body":{"text":""}},"response":{"status":0,"headers":[],"chunks":[],"end":"complete"}}"#;
    assert!(
        Recording::from_json(other)
            .expect_err("newer")
            .to_string()
            .contains("version 2")
    );
}
