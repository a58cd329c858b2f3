//! Replays editing sessions in a buffer with rope, undo log, anchors and change log, compared with
//! bare ropes that have only the text.
//!
//! Positions in the traces count chars. Burin and crop count bytes, so the patches are converted
//! once, outside the measured part; ropey 1.6 counts chars.

use base::{Bias, Span};
use text::{Author, Buffer, EditKind, EditOrigin, Timestamp};

use crate::figure::Figure;
use crate::interleave::{Pairs, millis};
use crate::traces::{self, Trace};

const PAIRS: usize = 20;

pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for trace in traces::all()? {
        let patches = in_bytes(&trace);
        check_end(&trace, &patches)?;
        let name = |what: &str| format!("{what} {} ({} edits)", trace.name, patches.len());
        let against_ropey = Pairs::take(
            PAIRS,
            || replay(&trace, &patches, 0).1,
            || millis(|| replay_ropey(&trace)),
        );
        figures.push(Figure::against(
            name("replay"),
            "ropey 1.6",
            &against_ropey,
            "ms",
            Some(1.0),
        ));
        let against_crop = Pairs::take(
            PAIRS,
            || replay(&trace, &patches, 0).1,
            || millis(|| replay_crop(&trace, &patches)),
        );
        figures.push(Figure::against(
            name("replay"),
            "crop 0.4",
            &against_crop,
            "ms",
            None,
        ));
        let anchors = Pairs::take(
            PAIRS,
            || replay(&trace, &patches, 10_000).1,
            || replay(&trace, &patches, 0).1,
        );
        figures.push(Figure::against(
            name("10k anchors"),
            "no anchors",
            &anchors,
            "ms",
            Some(2.0),
        ));
    }
    figures.push(snapshots()?);
    Ok(figures)
}

/// A patch in bytes.
struct BytePatch {
    at: usize,
    removed: usize,
    inserted: String,
}

fn in_bytes(trace: &Trace) -> Vec<BytePatch> {
    let mut rope = ropey1::Rope::from_str(&trace.start);
    let convert = trace.patches.iter().map(|patch| {
        let at = rope.char_to_byte(patch.at);
        let end = rope.char_to_byte(patch.at + patch.removed);
        rope.remove(patch.at..patch.at + patch.removed);
        rope.insert(patch.at, &patch.inserted);
        BytePatch {
            at,
            removed: end - at,
            inserted: patch.inserted.clone(),
        }
    });
    convert.collect()
}

fn check_end(trace: &Trace, patches: &[BytePatch]) -> Result<(), String> {
    let mut buffer = replay(trace, patches, 0).0;
    if buffer.snapshot().to_string() != trace.end {
        return Err(format!("{}: the replay ends in another text", trace.name));
    }
    while buffer.undo().is_some() {}
    if buffer.snapshot().to_string() != trace.start {
        return Err(format!(
            "{}: undoing everything does not give the start",
            trace.name
        ));
    }
    Ok(())
}

/// Replays a trace. After the first tenth of the edits, `anchors` anchors are spread over the text.
/// Returns the buffer and the milliseconds, without those for creating the anchors.
fn replay(trace: &Trace, patches: &[BytePatch], anchors: usize) -> (Buffer, f64) {
    let mut buffer = Buffer::new(&trace.start);
    let (before, after) = patches.split_at(patches.len() / 10);
    let mut at = 0;
    let first = millis(|| type_in(&mut buffer, before, &mut at));
    let text = buffer.snapshot();
    for anchor in 0..anchors {
        let offset = text.clip((anchor * text.len().0 / anchors).into(), Bias::Left);
        buffer.create_anchor(offset, Bias::Right);
    }
    drop(text);
    let second = millis(|| type_in(&mut buffer, after, &mut at));
    (buffer, first + second)
}

fn type_in(buffer: &mut Buffer, patches: &[BytePatch], at: &mut u64) {
    for patch in patches {
        *at += 80;
        let origin = EditOrigin {
            author: Author::User,
            kind: if patch.inserted.is_empty() {
                EditKind::Deleting
            } else {
                EditKind::Typing
            },
            at: Timestamp(*at),
        };
        let span = Span::from(patch.at..patch.at + patch.removed);
        buffer.replace(span, &patch.inserted, &origin);
    }
}

fn replay_ropey(trace: &Trace) -> ropey1::Rope {
    let mut rope = ropey1::Rope::from_str(&trace.start);
    for patch in &trace.patches {
        if patch.removed > 0 {
            rope.remove(patch.at..patch.at + patch.removed);
        }
        if !patch.inserted.is_empty() {
            rope.insert(patch.at, &patch.inserted);
        }
    }
    rope
}

fn replay_crop(trace: &Trace, patches: &[BytePatch]) -> crop::Rope {
    let mut rope = crop::Rope::from(trace.start.as_str());
    for patch in patches {
        rope.replace(patch.at..patch.at + patch.removed, &patch.inserted);
    }
    rope
}

/// The cost of a snapshot does not depend on the length of the text.
fn snapshots() -> Result<Figure, String> {
    let time = |len: usize| {
        let buffer = Buffer::new(&"let x = 1;\n".repeat(len / 11));
        move || {
            millis(|| {
                (0..10_000)
                    .map(|_| buffer.snapshot().row_count() as usize)
                    .sum::<usize>()
            })
        }
    };
    let pairs = Pairs::take(PAIRS, time(64 << 20), time(4 << 10));
    Ok(Figure::against(
        "10,000 snapshots of 64 MB",
        "of 4 KB",
        &pairs,
        "ms",
        Some(2.0),
    ))
}
