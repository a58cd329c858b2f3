//! What was recorded is replayed byte for byte, and holds no key.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use futures::{FutureExt, StreamExt};
use model::{Failure, FailureClass};
use tokio::time::{Instant, sleep};

use super::*;
use crate::http::{Broken, Call, KeyHeader, Method, Reply, Transport};
use crate::keys::Secret;

const KEY: &str = "sk-canary-42";

/// Sends these pieces a second apart, then ends or breaks.
struct Live {
    pieces: Vec<Vec<u8>>,
    breaks: bool,
}

impl Transport for Live {
    fn call(&self, _call: Call, _connect: Duration) -> BoxFuture<'static, Result<Reply, Failure>> {
        let pieces = self.pieces.clone();
        let end = self.breaks.then(|| Err(Broken(format!("reset by {KEY}"))));
        let body = stream::iter(pieces).then(|piece| async move {
            sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from(piece))
        });
        let reply = Reply {
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

fn call(body: &'static str) -> Call {
    Call {
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
async fn byte_for_byte_and_second_for_second() {
    let recording = record(
        Live {
            pieces: pieces(),
            breaks: false,
        },
        99,
    )
    .await;
    assert_eq!(recording.end, End::Complete);
    let text = recording.to_json();
    let read = Recording::from_json(&text).expect("reads");
    assert_eq!(read, recording);
    assert_eq!(read.to_json(), text);
    for (pace, seconds) in [(Pace::Instant, 0), (Pace::Recorded, 5)] {
        let replay = Replay::new(vec![read.clone()], pace);
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
        assert_eq!(replay.left(), 0);
        let again = replay
            .call(call("{\"a\":1}"), Duration::ZERO)
            .await
            .expect_err("played once");
        assert_eq!(again.class, FailureClass::InvalidRequest);
    }
    let replay = Replay::new(vec![read], Pace::Instant);
    assert!(
        replay
            .call(call("{\"a\":2}"), Duration::ZERO)
            .await
            .is_err(),
        "another body"
    );
}

#[tokio::test(start_paused = true)]
async fn no_key_in_any_part_of_it() {
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
    assert_eq!(recording.end, End::Broken("reset by <key>".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_dropped_is_recorded_so_far() {
    let recording = record(
        Live {
            pieces: pieces(),
            breaks: false,
        },
        2,
    )
    .await;
    assert_eq!(recording.end, End::Dropped);
    assert_eq!(recording.chunks.len(), 2);
}

#[test]
fn what_is_no_recording_is_told() {
    assert!(Recording::from_json("{}").is_err());
    assert!(Recording::from_json("").is_err());
    let other = r#"{"version":2,"request":{"line":"","headers":[],"body":{"text":""}},"response":{"status":0,"headers":[],"chunks":[],"end":"complete"}}"#;
    assert!(
        Recording::from_json(other)
            .expect_err("newer")
            .contains("version 2")
    );
}
