//! Lines of every kind: complete, empty, too long, not text, truncated.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

async fn all(bytes: &[u8], longest: usize) -> Vec<WireLine> {
    let mut lines = LineReader::new(bytes, longest);
    let mut all = Vec::new();
    while let Some(line) = lines.next().await.expect("memory does not fail") {
        all.push(line);
    }
    all
}

fn text(line: &str) -> WireLine {
    WireLine::Text(line.to_owned())
}

#[tokio::test]
async fn lines_are_complete_and_empty_ones_skipped() {
    let lines = all(b"{}\n\n  \r\n[1]\r\n", 100).await;
    assert_eq!(lines, [text("{}"), text("[1]\r")]);
}

#[tokio::test]
async fn overlong_line_is_noise_and_the_next_is_read() {
    let lines = all(b"aaaaaaaaaa\nbb\n", 4).await;
    let WireLine::Noise(noise) = &lines[0] else {
        panic!("{lines:?}");
    };
    assert!(noise.contains("10 bytes"), "{noise}");
    assert_eq!(lines[1], text("bb"));
}

#[tokio::test]
async fn invalid_utf8_and_truncated_lines_are_noise() {
    let lines = all(b"ab\xff\nok\nhalf", 100).await;
    assert!(
        matches!(&lines[0], WireLine::Noise(why) if why.contains("byte 2")),
        "{lines:?}"
    );
    assert_eq!(lines[1], text("ok"));
    assert!(
        matches!(&lines[2], WireLine::Noise(why) if why.contains("cut off")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn random_bytes_never_hold_more_than_the_limit() {
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..200 {
        let length = random.random_range(0..4000);
        let bytes: Vec<u8> = (0..length)
            .map(|_| match random.random_range(0..8) {
                0 => b'\n',
                _ => random.random(),
            })
            .collect();
        for line in all(&bytes, 64).await {
            if let WireLine::Text(text) = line {
                assert!(text.len() <= 64, "round {round}");
            }
        }
    }
}
