//! Pacing of replies, under a paused clock.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::{Ticks, send};
use crate::{
    frames::{Frames, StreamPlan},
    request_log::{LoggedRequest, RequestLog},
    rng::Rng,
    script::ReplyPace,
    socket::ResetFlag,
};

/// Returns the time and length of each write, then the end.
async fn writes(pace: ReplyPace, first_byte: Duration) -> Vec<(u128, usize)> {
    let mut frames = Frames::new(Rng::of(&[1]), pace);
    (0..100).for_each(|_| frames.raw(b"word".to_vec(), 1));
    let plan = StreamPlan::new(frames.finish(), pace, first_byte, None, Vec::new());
    let log = RequestLog::new();
    let watch = log.open(LoggedRequest {
        at: Duration::ZERO,
        method: String::new(),
        path: String::new(),
        headers: Vec::new(),
        body: Vec::new(),
        rule: None,
        status: 0,
        end: None,
    });
    let start = Instant::now();
    let ticks = Ticks {
        origin: start,
        length: Duration::from_millis(pace.tick_ms),
    };
    let body = send(plan, start, ticks, watch, ResetFlag::default());
    let writes: Vec<(u128, usize)> = body
        .map(|bytes| (start.elapsed().as_millis(), bytes.expect("bytes").len()))
        .collect()
        .await;
    assert_eq!(
        log.entries()[0].end.map(|(end, _)| end),
        Some(crate::ResponseEnd::Finished)
    );
    writes
}

#[tokio::test(start_paused = true)]
async fn tokens_are_sent_at_the_configured_rate() {
    let pace = ReplyPace {
        tokens_per_second: 100.0,
        tick_ms: 0,
        ..ReplyPace::default()
    };
    let writes = writes(pace, Duration::from_millis(500)).await;
    assert_eq!(writes.len(), 100);
    for (ix, (at, length)) in writes.iter().enumerate() {
        let due = 500 + 10 * (ix as u128 + 1);
        assert!(
            at.abs_diff(due) <= 1,
            "token {ix} came after {at} ms, not after {due}"
        );
        assert_eq!(*length, 4);
    }
}

#[tokio::test(start_paused = true)]
async fn fragments_due_within_a_tick_are_joined() {
    let pace = ReplyPace {
        tokens_per_second: 1000.0,
        tick_ms: 20,
        ..ReplyPace::default()
    };
    let writes = writes(pace, Duration::ZERO).await;
    assert!(writes.len() <= 8, "{writes:?}");
    assert_eq!(writes.iter().map(|(_, length)| length).sum::<usize>(), 400);
    let late = writes.iter().skip(1).all(|(at, _)| at % 20 <= 1);
    assert!(late, "writes come on ticks: {writes:?}");
    let (last, _) = writes[writes.len() - 1];
    assert!((100..=121).contains(&last), "{last}");
}

#[tokio::test(start_paused = true)]
async fn unpaced_answer_is_sent_at_once() {
    let writes = writes(ReplyPace::default(), Duration::ZERO).await;
    assert_eq!(writes, [(0, 400)]);
}
