//! Cache expiry, under a paused clock.

use std::time::Duration;

use tokio::time::{Instant, advance};

use super::PrefixCache;
use crate::{
    request::{CacheSegment, Lifetime, PromptRequest},
    script::CacheFacts,
    wire_format::WireFormat,
};

/// Creates a prompt of segments of 400 tokens each, some of them marked.
fn prompt(wire: WireFormat, segments: &[(&str, Option<Lifetime>)]) -> PromptRequest {
    let mut request = PromptRequest::new(wire, "m");
    request.segments = segments
        .iter()
        .map(|(letter, mark)| CacheSegment {
            text: letter.repeat(1600),
            mark: *mark,
        })
        .collect();
    request
}

struct TestCache(PrefixCache);

impl TestCache {
    /// Returns the tokens that the request reads, and writes for five minutes and for an hour.
    fn ask(&mut self, request: &PromptRequest) -> (u64, u64, u64) {
        let now = Instant::now();
        let plan = self.0.plan(request, CacheFacts::default(), now);
        let figures = (plan.read, plan.write_5m, plan.write_1h);
        self.0.commit(plan, now, now);
        figures
    }
}

const SHORT: Option<Lifetime> = Some(Lifetime::FiveMinutes);
const LONG: Option<Lifetime> = Some(Lifetime::Hour);

#[tokio::test(start_paused = true)]
async fn a_conversation_that_grows_reads_its_past() {
    let mut cache = TestCache(PrefixCache::default());
    let one = prompt(
        WireFormat::Anthropic,
        &[("a", None), ("b", None), ("c", SHORT)],
    );
    assert_eq!(cache.ask(&one), (0, 1200, 0));
    let two = [
        ("a", None),
        ("b", None),
        ("c", None),
        ("d", None),
        ("e", SHORT),
    ];
    assert_eq!(
        cache.ask(&prompt(WireFormat::Anthropic, &two)),
        (1200, 800, 0)
    );
    let changed = prompt(
        WireFormat::Anthropic,
        &[("x", None), ("b", None), ("c", SHORT)],
    );
    assert_eq!(
        cache.ask(&changed),
        (0, 1200, 0),
        "an earlier change invalidates what follows"
    );
}

#[tokio::test(start_paused = true)]
async fn entries_expire_unless_they_are_read() {
    let mut cache = TestCache(PrefixCache::default());
    let request = prompt(
        WireFormat::Anthropic,
        &[("a", None), ("b", None), ("c", SHORT)],
    );
    cache.ask(&request);
    for _ in 0..3 {
        advance(Duration::from_secs(299)).await;
        assert_eq!(cache.ask(&request), (1200, 0, 0), "a read refreshes");
    }
    advance(Duration::from_secs(301)).await;
    assert_eq!(cache.ask(&request), (0, 1200, 0));
}

#[tokio::test(start_paused = true)]
async fn lifetimes_are_counted_separately() {
    let mut cache = TestCache(PrefixCache::default());
    let segments = [("a", None), ("b", None), ("c", LONG), ("d", SHORT)];
    let request = prompt(WireFormat::Anthropic, &segments);
    assert_eq!(cache.ask(&request), (0, 400, 1200));
    advance(Duration::from_secs(1800)).await;
    assert_eq!(
        cache.ask(&request),
        (1200, 400, 0),
        "the hour's entry is still there"
    );
}

#[tokio::test(start_paused = true)]
async fn a_breakpoint_looks_back_over_twenty_segments() {
    let mut cache = TestCache(PrefixCache::default());
    let start = [("a", None), ("b", None), ("c", SHORT)];
    cache.ask(&prompt(WireFormat::Anthropic, &start));
    let grown = |count: usize| {
        let mut segments = vec![("a", None), ("b", None), ("c", None)];
        segments.extend(vec![("d", None); count - 1]);
        segments.push(("e", SHORT));
        prompt(WireFormat::Anthropic, &segments)
    };
    assert_eq!(cache.ask(&grown(21)).0, 0, "too far back");
    assert_eq!(cache.ask(&grown(20)).0, 1200);
}

#[tokio::test(start_paused = true)]
async fn unread_entries_of_automatic_caches_expire() {
    let mut cache = TestCache(PrefixCache::default());
    let request = prompt(
        WireFormat::Chat,
        &[("a", None), ("b", None), ("c", None), ("d", None)],
    );
    assert_eq!(cache.ask(&request), (0, 0, 0));
    assert_eq!(
        cache.ask(&request),
        (1536, 0, 0),
        "whole steps of 128, and never the last token"
    );
    let other = prompt(
        WireFormat::Chat,
        &[("a", None), ("b", None), ("x", None), ("d", None)],
    );
    assert_eq!(
        cache.ask(&other),
        (0, 0, 0),
        "800 tokens in common are fewer than the minimum"
    );
    advance(Duration::from_secs(601)).await;
    assert_eq!(cache.ask(&request), (0, 0, 0));
}
