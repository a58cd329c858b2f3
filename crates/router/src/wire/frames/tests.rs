//! Tests frames against the standard and against another parser.

use eventsource_stream::Eventsource;
use futures::StreamExt;
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

fn frames(framing: Framing, bytes: &[u8]) -> Vec<(String, String, bool)> {
    let mut divider = FrameSplitter::new(framing);
    let mut frames = Vec::new();
    divider.feed(bytes, &mut frames).expect("text");
    divider.finish(&mut frames).expect("text");
    let frames = frames.into_iter();
    frames
        .map(|frame| (frame.event, frame.data, frame.is_tail))
        .collect()
}

fn check(body: &str, expected: &[(&str, &str)]) {
    let found = frames(Framing::Events, body.as_bytes());
    let found: Vec<_> = found
        .iter()
        .map(|(event, data, _)| (event.as_str(), data.as_str()))
        .collect();
    assert_eq!(found, expected, "{body:?}");
}

#[test]
fn events() {
    check("data: a\n\n", &[("", "a")]);
    check(
        "data:a\r\n\r\ndata: b\r\rdata:  c\n\n",
        &[("", "a"), ("", "b"), ("", " c")],
    );
    check("event: x\ndata: a\ndata: b\n\n", &[("x", "a\nb")]);
    check(": ping\n\ndata: a\nid: 7\nretry: 3\n\n", &[("", "a")]);
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("event: x\n\ndata: a\n\n", &[("", "a")]);
    check("data\n\ndata:\n\n", &[]);
    // The end may be missing.
    check("data: a\n", &[("", "a")]);
    check("data: a", &[("", "a")]);
}

#[test]
fn lines() {
    let found = frames(Framing::Lines, b"{\"a\":1}\n\n{\"b\":2}\r\n{\"c\"");
    let expected = [("{\"a\":1}", false), ("{\"b\":2}", false), ("{\"c\"", true)];
    let found: Vec<_> = found
        .iter()
        .map(|(_, data, tail)| (data.as_str(), *tail))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn invalid_utf8_fails_after_preceding_frames() {
    let mut frames = Vec::new();
    let fed = FrameSplitter::new(Framing::Events).feed(b"data: a\n\ndata: \xff\n\n", &mut frames);
    assert_eq!(fed, Err(FrameError::NotText));
    assert_eq!(frames.len(), 1);
}

#[test]
fn characters_may_span_chunks() {
    let bytes = "data: 🦀é\n\n".as_bytes();
    for at in 0..bytes.len() {
        let mut divider = FrameSplitter::new(Framing::Events);
        let mut frames = Vec::new();
        divider.feed(&bytes[..at], &mut frames).expect("text");
        divider.feed(&bytes[at..], &mut frames).expect("text");
        assert_eq!(frames[0].data, "🦀é", "cut at {at}");
    }
}

#[test]
fn frames_equal_those_of_eventsource_stream() {
    let words = [
        "data: a",
        "data:b",
        "data",
        "data: é🦀",
        ": note",
        "event: x",
        "event:",
        "id: 1",
        "",
        "",
        "\n",
    ];
    for seed in 0..500 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut body = String::new();
        for _ in 0..random.random_range(0..30) {
            body.push_str(words[random.random_range(0..words.len())]);
            body.push_str(["\n", "\r\n", "\n"][random.random_range(0..3)]);
        }
        // Both agree that an empty line ends an event.
        body.push_str("\n\n");
        let theirs = futures::stream::iter([Ok::<_, ()>(body.clone().into_bytes())]).eventsource();
        let theirs: Vec<(String, String)> = block_on(theirs.collect::<Vec<_>>())
            .into_iter()
            .map(|event| event.expect("an event"))
            // We omit events without data, and unnamed ones have an empty name.
            .filter(|event| !event.data.is_empty())
            .map(|event| (event.event, event.data))
            .collect();
        let ours: Vec<(String, String)> = frames(Framing::Events, body.as_bytes())
            .into_iter()
            .map(|(event, data, _)| {
                if event.is_empty() {
                    ("message".to_owned(), data)
                } else {
                    (event, data)
                }
            })
            .collect();
        assert_eq!(ours, theirs, "seed {seed}: {body:?}");
    }
}
