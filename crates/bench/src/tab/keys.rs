//! Editing sessions as timed keystrokes.
//!
//! The recordings have whole seconds; the edits of one second are spread evenly over it. An editor's own completion is
//! recorded as a replacement of the word by a text that begins with it; it is read as the insertion of the rest, which
//! continues the typing.

use std::collections::HashMap;
use std::time::Duration;

use base::Span;
use text::{Buffer, EditOrigin, Timestamp};

use crate::traces::{self, Patch};

/// A session.
pub(super) struct Session {
    pub(super) name: &'static str,
    /// Name of a file in the language of the session.
    pub(super) file: &'static str,
    pub(super) start: String,
    pub(super) events: Vec<Event>,
}

/// One edit.
pub(super) struct Event {
    pub(super) at: Duration,
    /// Offset in characters.
    pub(super) place: usize,
    pub(super) removed: usize,
    pub(super) inserted: String,
    /// Index of its run of typing: edits that each continue where the previous one ended.
    pub(super) run: usize,
    /// Bytes of the run up to its end.
    pub(super) run_end: usize,
}

impl Event {
    /// Whether it inserts a single character.
    pub(super) fn is_key(&self) -> bool {
        self.removed == 0 && self.inserted.chars().count() == 1
    }
}

impl Session {
    pub(super) fn read(name: &'static str) -> Result<Self, String> {
        let trace = traces::read(name)?;
        let mut per_second: HashMap<u64, u32> = HashMap::new();
        for patch in &trace.patches {
            *per_second.entry(patch.second).or_default() += 1;
        }
        let first = trace
            .patches
            .iter()
            .map(|it| it.second)
            .find(|second| *second > 0);
        let first = first.ok_or_else(|| format!("{name} tells no times"))?;
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut events: Vec<Event> = Vec::with_capacity(trace.patches.len());
        let mut caret = usize::MAX;
        let mut buffer = Buffer::new(&trace.start);
        for patch in trace.patches {
            let ix = seen.entry(patch.second).or_default();
            let share = (f64::from(*ix) + 0.5) / f64::from(per_second[&patch.second]);
            *ix += 1;
            // The initial text has no time.
            let second = patch.second.saturating_sub(first) as f64 + 1.0;
            let at = match patch.second {
                0 => Duration::ZERO,
                _ => Duration::from_secs_f64(second + share),
            };
            let patch = without_common_start(patch, &mut buffer);
            if patch.removed == 0 && patch.inserted.is_empty() {
                continue;
            }
            let goes_on = patch.removed == 0 && patch.at == caret;
            let (run, run_end) = match events.last() {
                Some(last) if goes_on => (last.run, last.run_end),
                Some(last) => (last.run + 1, 0),
                None => (0, 0),
            };
            caret = patch.at + patch.inserted.chars().count();
            events.push(Event {
                at,
                place: patch.at,
                removed: patch.removed,
                run,
                run_end: run_end + patch.inserted.len(),
                inserted: patch.inserted,
            });
        }
        Ok(Self {
            name,
            file: match name {
                "rustcode" => "list.rs",
                _ => "App.html",
            },
            start: trace.start,
            events,
        })
    }
}

/// Returns a patch without the beginning that the removed and the inserted text have in common, and applies it.
fn without_common_start(patch: Patch, buffer: &mut Buffer) -> Patch {
    let start = buffer.offset_at_char(patch.at);
    let span = Span::new(start, buffer.offset_at_char(patch.at + patch.removed));
    let removed = buffer.snapshot().text(span).into_owned();
    buffer.replace(span, &patch.inserted, &EditOrigin::user(Timestamp(0)));
    let pairs = removed.chars().zip(patch.inserted.chars());
    let common = pairs.take_while(|(old, new)| old == new).count();
    Patch {
        at: patch.at + common,
        removed: patch.removed - common,
        inserted: patch.inserted.chars().skip(common).collect(),
        ..patch
    }
}
