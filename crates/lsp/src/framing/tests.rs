//! Frames: well formed, torn at every byte, hostile, random.

use std::io::{self, Read};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{FrameReader, FramingError, MAX_BODY, frame};

/// A stream that returns its bytes in small parts.
struct SmallReads<'a>(&'a [u8]);

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.0.len().min(buffer.len()).min(3);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

fn bodies(bytes: &[u8]) -> (Vec<String>, Option<FramingError>) {
    let mut reader = FrameReader::new(SmallReads(bytes));
    let mut bodies = Vec::new();
    loop {
        match reader.read() {
            Ok(Some(body)) => bodies.push(String::from_utf8_lossy(&body).into_owned()),
            Ok(None) => return (bodies, None),
            Err(error) => return (bodies, Some(error)),
        }
    }
}

fn check(bytes: &str, expected: &[&str], error: Option<FramingError>) {
    let expected = expected.iter().map(|body| (*body).to_owned()).collect();
    assert_eq!(bodies(bytes.as_bytes()), (expected, error), "{bytes:?}");
}

#[test]
fn headers_are_read_in_any_order_and_case() {
    check("", &[], None);
    check(
        "Content-Length: 2\r\n\r\n{}Content-Length: 0\r\n\r\n",
        &["{}", ""],
        None,
    );
    check("CONTENT-length:2\nX-Other: a: b\n\n{}\r\n", &["{}"], None);
    let charsets = [
        "",
        "; charset=utf-8",
        ";charset=UTF8; x=y",
        "; Charset=\"utf-8\"",
    ];
    for charset in charsets {
        let media = "application/vscode-jsonrpc";
        let text = format!("Content-Type: {media}{charset}\r\nContent-Length: 1\r\n\r\n1");
        check(&text, &["1"], None);
    }
}

#[test]
fn a_torn_frame_is_an_error_at_every_byte() {
    let whole = frame(r#"{"jsonrpc":"2.0"}"#);
    for end in 1..whole.len() {
        assert_eq!(
            bodies(&whole[..end]),
            (vec![], Some(FramingError::Torn)),
            "{end}"
        );
    }
    assert_eq!(bodies(&whole).0.len(), 1);
}

#[test]
fn a_server_that_prints_is_quoted() {
    let malformed = |text: &str| {
        let text = text.to_owned();
        Some(FramingError::MalformedHeader { text })
    };
    check("Hello\u{1b}[0m\n", &[], malformed("Hello␛[0m"));
    check("error in x: y\n", &[], malformed("error in x: y"));
    check(
        "Content-Length: -1\r\n\r\n",
        &[],
        malformed("Content-Length: -1"),
    );
    check(
        "Content-Length: 9x\r\n\r\n",
        &[],
        malformed("Content-Length: 9x"),
    );
    check("X: y\r\n\r\n", &[], Some(FramingError::MissingLength));
}

#[test]
fn bounds_are_checked_before_memory_is_used() {
    let length = 1 << 30;
    let error = FramingError::BodyTooLong { length };
    check(
        &format!("Content-Length: {length}\r\n\r\n"),
        &[],
        Some(error),
    );
    let huge = format!("Content-Length: {}\r\n\r\nx", MAX_BODY);
    check(&huge, &[], Some(FramingError::Torn));
    let digits = "9".repeat(30);
    let (_, error) = bodies(format!("Content-Length: {digits}\r\n\r\n").as_bytes());
    assert!(matches!(error, Some(FramingError::MalformedHeader { .. })));
    check(&"x".repeat(9 << 10), &[], Some(FramingError::HeaderTooLong));
    check(
        &"X: y\r\n".repeat(2 << 10),
        &[],
        Some(FramingError::HeaderTooLong),
    );
    let charset = "utf-16".to_owned();
    let error = FramingError::UnsupportedCharset { charset };
    check("Content-Type: x; charset=utf-16\r\n", &[], Some(error));
}

#[test]
fn random_bytes_never_panic_and_valid_frames_survive() {
    for seed in 0..2_000 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..rng.random_range(0..4) {
            let body = "é{".repeat(rng.random_range(0..40));
            bytes.extend(frame(&body));
            expected.push(body);
        }
        let pieces = [
            "Content-Length",
            ":",
            " ",
            "\r\n",
            "\n",
            "1",
            "99",
            "charset=",
            "\u{0}",
            "é",
        ];
        for _ in 0..rng.random_range(0..20) {
            bytes.extend(pieces[rng.random_range(0..pieces.len())].as_bytes());
        }
        bytes.extend((0..rng.random_range(0..4)).map(|_| rng.random::<u8>()));
        let (found, _) = bodies(&bytes);
        assert_eq!(found[..expected.len()], expected, "seed {seed}");
    }
}
