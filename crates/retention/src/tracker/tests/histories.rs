//! Recorded editing sessions, replayed key by key and as saved texts, and histories of public files, compared with the
//! oracle.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use base::Span;
use flate2::read::GzDecoder;
use serde_json::Value;
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::oracle::{Oracle, TokenId, kept_in};
use super::{by, measurements};
use crate::{Milestone, RetentionEvent, RetentionTracker};

/// Patches of each session that are replayed: `BURIN_HISTORY_PATCHES`, which the soak sets, or a few.
fn patches() -> usize {
    let count = std::env::var("BURIN_HISTORY_PATCHES").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(2_500)
}

/// Time between patches, in milliseconds; every now and then the writer pauses.
const KEY_MS: u64 = 150;
/// Number of patches after which the writer pauses, and pause in milliseconds.
const BURST: (usize, u64) = (60, 20_000);

struct Patch {
    position: usize,
    deleted: usize,
    inserted: String,
}

/// Reads a compressed file of test data.
fn json(name: &str) -> Value {
    let path = test_support::data(name);
    #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
    let bytes = std::fs::read(&path).expect("the test data");
    let mut json = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut json)
        .expect("a gzip file");
    serde_json::from_str(&json).expect("a JSON file")
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn load(name: &str) -> Vec<Patch> {
    let value = json(&format!("editing-traces/{name}.json.gz"));
    let transactions = value["txns"].as_array().expect("a list");
    transactions
        .iter()
        .flat_map(|transaction| transaction["patches"].as_array().expect("a list"))
        .take(patches())
        .map(|patch| Patch {
            position: number(&patch[0]),
            deleted: number(&patch[1]),
            inserted: patch[2].as_str().expect("a string").to_owned(),
        })
        .collect()
}

/// Replays a session, in which an agent and a person take turns by bursts. Returns the numbers of tokens about which
/// the tracker is wrong and of all tokens, over all horizons.
fn replay(name: &str, feed: Feed) -> (usize, usize) {
    let mut oracle = Oracle::default();
    let mut buffer = Buffer::new("");
    let mut tracker = RetentionTracker::default();
    tracker.open("a", buffer.snapshot());
    let mut due: Vec<(u64, u64, Milestone)> = Vec::new();
    let mut truth = HashMap::new();
    let mut now = 0;
    for (ix, burst) in load(name).chunks(BURST.0).enumerate() {
        now += BURST.1;
        settle(&oracle, &mut due, now, &mut truth);
        let (before, tokens) = (oracle.marks.clone(), oracle.tokens());
        let letter = if ix % 2 == 0 { 'a' } else { 'p' };
        for patch in burst {
            now += KEY_MS;
            let first = buffer.offset_at_char(patch.position);
            let last = buffer.offset_at_char(patch.position + patch.deleted);
            let origin = EditOrigin::typing(Timestamp(now));
            let change = buffer.replace(Span::new(first, last), &patch.inserted, &origin);
            if feed == Feed::Keys {
                let marks = oracle.marks_of(&patch.inserted);
                oracle.replace(patch.position..patch.position + patch.deleted, marks);
                tracker.edit("a", (&change, &buffer.snapshot()), &by(letter), now);
            }
        }
        if feed == Feed::Saves {
            let saved = Snapshot::new(&buffer.snapshot().to_string());
            oracle.replace_rows(&saved);
            tracker.observe("a", saved, &by(letter), now);
        }
        oracle.join_edits(&before, now);
        oracle.add_unit_with_runs(&tokens, &before, now);
        if oracle.units.last().is_some_and(|unit| unit.at_ms == now) {
            let horizons = Milestone::HORIZONS.iter();
            due.extend(horizons.map(|(milestone, after)| (now + after, now, *milestone)));
        }
    }
    tracker.assert_invariants();
    settle(&oracle, &mut due, u64::MAX, &mut truth);
    tracker.advance(now + 2 * super::DAY);
    differences(&oracle, &tracker.take_events(), &truth)
}

/// The versions of a file, oldest first.
fn versions(history: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut versions = vec![text(&history["start"])];
    for change in history["changes"].as_array().expect("a list") {
        let mut rows: Vec<String> = versions[versions.len() - 1]
            .split_inclusive('\n')
            .map(str::to_owned)
            .collect();
        let hunks = change.as_array().expect("a list");
        for hunk in hunks.iter().rev() {
            let first = number(&hunk[0]);
            let removed = first..first + number(&hunk[1]);
            rows.splice(removed, [text(&hunk[2])]);
        }
        versions.push(rows.concat());
    }
    versions
}

/// Replays the versions of a file, which an agent and a person write in turns. Returns the numbers of tokens about which
/// the tracker is wrong and of all tokens, over all horizons.
fn replay_versions(versions: &[String]) -> (usize, usize) {
    let mut oracle = Oracle::default();
    let mut tracker = RetentionTracker::default();
    tracker.open("a", Snapshot::new(""));
    let mut due: Vec<(u64, u64, Milestone)> = Vec::new();
    let mut truth = HashMap::new();
    let mut now = 0;
    for (ix, version) in versions.iter().enumerate() {
        now += VERSION_MS[ix % VERSION_MS.len()];
        settle(&oracle, &mut due, now, &mut truth);
        let (before, tokens) = (oracle.marks.clone(), oracle.tokens());
        let letter = if ix % 2 == 0 { 'a' } else { 'p' };
        let version = Snapshot::new(version);
        oracle.replace_rows(&version);
        tracker.observe("a", version, &by(letter), now);
        oracle.join_edits(&before, now);
        oracle.add_unit_with_runs(&tokens, &before, now);
        if oracle.units.last().is_some_and(|unit| unit.at_ms == now) {
            let horizons = Milestone::HORIZONS.iter();
            due.extend(horizons.map(|(milestone, after)| (now + after, now, *milestone)));
        }
    }
    tracker.assert_invariants();
    settle(&oracle, &mut due, u64::MAX, &mut truth);
    tracker.advance(now + 2 * super::DAY);
    differences(&oracle, &tracker.take_events(), &truth)
}

/// Times between versions, in milliseconds.
const VERSION_MS: [u64; 5] = [40_000, 200_000, 900_000, 5_000_000, 50_000_000];

type Truth = HashMap<(u64, Milestone), (usize, usize)>;

fn settle(oracle: &Oracle, due: &mut Vec<(u64, u64, Milestone)>, now: u64, truth: &mut Truth) {
    if !due.iter().any(|(at, ..)| *at <= now) {
        return;
    }
    let tokens: HashSet<TokenId> = oracle.tokens().into_iter().collect();
    let units: HashMap<u64, _> = oracle.units.iter().map(|unit| (unit.at_ms, unit)).collect();
    due.retain(|(at, unit_ms, milestone)| {
        if *at <= now {
            truth.insert((*unit_ms, *milestone), kept_in(&tokens, units[unit_ms]));
        }
        *at > now
    });
}

fn differences(oracle: &Oracle, events: &[RetentionEvent], truth: &Truth) -> (usize, usize) {
    let mut began = HashMap::new();
    for event in events {
        if let RetentionEvent::Began(unit) = event {
            began.insert(unit.unit, unit.at_ms);
        }
    }
    let found: Truth = measurements(events)
        .iter()
        .map(|it| {
            let kept = (it.inserted.kept as usize, it.removed.kept as usize);
            ((began[&it.unit], it.milestone), kept)
        })
        .collect();
    let (mut wrong, mut tokens) = (0, 0);
    for unit in &oracle.units {
        for (milestone, _) in Milestone::HORIZONS {
            let key = (unit.at_ms, milestone);
            let (found, truth) = (found.get(&key).copied().unwrap_or_default(), truth[&key]);
            wrong += found.0.abs_diff(truth.0) + found.1.abs_diff(truth.1);
            tokens += unit.inserted.len() + unit.removed.len();
        }
    }
    (wrong, tokens)
}

/// The form in which the tracker gets a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feed {
    Keys,
    Saves,
}

fn check(feed: Feed) {
    let (mut all_wrong, mut all_tokens) = (0, 0);
    for name in [
        "json-crdt-patch",
        "rustcode",
        "sveltecomponent",
        "seph-blog1",
        "automerge-paper",
    ] {
        let (wrong, tokens) = replay(name, feed);
        let share = wrong as f64 / tokens as f64;
        println!("{name}, {feed:?}: {share:.5} of {tokens} tokens differ");
        // A short session of repeated markup has the most places that cannot be told apart.
        assert!(share <= 0.02, "{name}, {feed:?}: {share}");
        all_wrong += wrong;
        all_tokens += tokens;
    }
    let share = all_wrong as f64 / all_tokens as f64;
    println!("{feed:?}: {share:.5}");
    assert!(share <= 0.01, "{feed:?}: {share}");
}

#[test]
fn keys_of_sessions_are_followed_as_the_oracle_says() {
    check(Feed::Keys);
}

#[test]
fn saves_of_sessions_are_followed_as_the_oracle_says() {
    check(Feed::Saves);
}

#[test]
fn histories_of_public_files_are_followed_as_the_oracle_says() {
    let histories = json("file-histories/histories.json.gz");
    let histories = histories.as_array().expect("a list");
    assert_eq!(histories.len(), 20);
    let (mut all_wrong, mut all_tokens, mut worst) = (0, 0, 0.0_f64);
    for history in histories {
        let (wrong, tokens) = replay_versions(&versions(history));
        let share = wrong as f64 / tokens as f64;
        println!("{}: {share:.5} of {tokens} tokens differ", history["path"]);
        all_wrong += wrong;
        all_tokens += tokens;
        worst = worst.max(share);
    }
    // A short history of repeated code has the most places that cannot be told apart.
    assert!(worst <= 0.05, "{worst}");
    let share = all_wrong as f64 / all_tokens as f64;
    println!("all: {share:.5}");
    assert!(share <= 0.01, "{share}");
}
