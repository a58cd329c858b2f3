//! An open document and the notifications that keep a server's copy of its text equal.
//!
//! Changes come from the edits of a buffer, never from a comparison of texts.
//! Invariant: `version` names the text that the server has received last, or would have.
//! Invariant: the changes in `past` are consecutive and end at `text`.

use std::collections::VecDeque;

use base::{AbsPath, Bias, ByteOffset, Span};
use gen_lsp_types::{
    TextDocumentContentChangeEvent, TextDocumentContentChangePartial,
    TextDocumentContentChangeWholeDocument,
};
use text::{Change, Snapshot, Splice};

use crate::capabilities::SyncKind;
use crate::diagnostics::{Diagnostic, DocumentReports};
use crate::position::PositionEncoding;
use crate::selector::DocumentIdentity;

/// Number of earlier versions about which a server may still report.
const MAX_PAST: usize = 256;

/// An open document as a server knows it.
#[derive(Debug)]
pub(crate) struct OpenDocument {
    pub(crate) path: AbsPath,
    pub(crate) language_id: String,
    pub(crate) text: Snapshot,
    pub(crate) version: i32,
    /// Whether the server received `didOpen`.
    pub(crate) is_announced: bool,
    pub(crate) reports: DocumentReports,
    /// Whether the text has, or had, a carriage return without a line feed. Servers disagree on
    /// whether it ends a line, so ranges after it are ambiguous.
    has_lone_return: bool,
    past: VecDeque<PastVersion>,
}

/// An earlier version of a document.
#[derive(Debug)]
struct PastVersion {
    version: i32,
    text: Snapshot,
    /// The change to the next version.
    change: Change,
}

/// The text that a report is about.
#[derive(Clone, Debug)]
pub(crate) struct ReportBasis {
    pub(crate) version: i32,
    pub(crate) text: Snapshot,
}

impl OpenDocument {
    /// Creates a document that is not announced yet.
    pub(crate) fn new(path: AbsPath, language_id: &str, text: Snapshot, version: i32) -> Self {
        Self {
            path,
            language_id: language_id.to_owned(),
            has_lone_return: has_lone_return(&text, text.full_span()),
            text,
            version,
            is_announced: false,
            reports: DocumentReports::default(),
            past: VecDeque::new(),
        }
    }

    /// Returns the properties that selectors compare.
    pub(crate) fn identity(&self) -> DocumentIdentity<'_> {
        DocumentIdentity {
            path: &self.path,
            language_id: &self.language_id,
        }
    }

    /// Moves to a new text and returns the changes that turn the server's text into it, in the order
    /// in which the server applies them; none if the server wants none.
    ///
    /// If the change does not start at the current text, the whole text is sent.
    pub(crate) fn change(
        &mut self,
        change: &Change,
        text: &Snapshot,
        version: i32,
        form: (SyncKind, PositionEncoding),
    ) -> Vec<TextDocumentContentChangeEvent> {
        if change.before != self.text.revision() || change.after != text.revision() {
            return self.replace(text, version, form.0);
        }
        let is_lone = |splice: &Splice| has_lone_return(text, splice.new);
        self.has_lone_return |= change.splices.iter().any(is_lone);
        let events = match form {
            (SyncKind::None, _) => Vec::new(),
            (SyncKind::Incremental, encoding) if !self.has_lone_return => {
                // From last to first, so that each range refers to text that is still unchanged.
                let splices = change.splices.iter().rev();
                splices
                    .map(|splice| partial_change(&self.text, text, splice, encoding))
                    .collect()
            }
            _ => vec![whole_text(text)],
        };
        self.advance(change.clone(), text, version);
        events
    }

    /// Moves to a text whose differences are not known, and returns the change to send.
    pub(crate) fn replace(
        &mut self,
        text: &Snapshot,
        version: i32,
        kind: SyncKind,
    ) -> Vec<TextDocumentContentChangeEvent> {
        self.has_lone_return = has_lone_return(text, text.full_span());
        let change = replacement(&self.text, text);
        self.advance(change, text, version);
        match kind {
            SyncKind::None => Vec::new(),
            SyncKind::Full | SyncKind::Incremental => vec![whole_text(text)],
        }
    }

    fn advance(&mut self, change: Change, text: &Snapshot, version: i32) {
        self.reports.apply(&change);
        let before = std::mem::replace(&mut self.text, text.clone());
        self.past.push_back(PastVersion {
            version: std::mem::replace(&mut self.version, version),
            text: before,
            change,
        });
        if self.past.len() > MAX_PAST {
            self.past.pop_front();
        }
    }

    /// Returns the text of a version; `None` if it is not known any more. Without a version, returns
    /// the latest text.
    pub(crate) fn basis(&self, version: Option<i32>) -> Option<ReportBasis> {
        let version = version.unwrap_or(self.version);
        let text = if version == self.version {
            &self.text
        } else {
            &self.past.iter().find(|past| past.version == version)?.text
        };
        Some(ReportBasis {
            version,
            text: text.clone(),
        })
    }

    /// Moves diagnostics of a version to the latest text; returns false if the version is not known
    /// any more.
    pub(crate) fn carry(&self, version: i32, items: &mut [Diagnostic]) -> bool {
        if version == self.version {
            return true;
        }
        let start = self.past.iter().position(|past| past.version == version);
        let Some(start) = start else {
            return false;
        };
        for past in self.past.range(start..) {
            for item in items.iter_mut() {
                item.span = past.change.map_span(item.span);
            }
        }
        true
    }
}

fn whole_text(text: &Snapshot) -> TextDocumentContentChangeEvent {
    TextDocumentContentChangeWholeDocument {
        text: text.to_string(),
    }
    .into()
}

/// Returns the change that a splice makes. A range may not start or end within `\r\n`, so it is
/// extended over the whole line ending.
fn partial_change(
    before: &Snapshot,
    after: &Snapshot,
    splice: &Splice,
    encoding: PositionEncoding,
) -> TextDocumentContentChangeEvent {
    let (mut old, mut new) = (splice.old, splice.new);
    if is_within_ending(before, old.start) {
        old.start -= 1;
        new.start -= 1;
    }
    if is_within_ending(before, old.end) {
        old.end += 1;
        new.end += 1;
    }
    TextDocumentContentChangePartial {
        range: encoding.range(before, old),
        text: after.text(new).into_owned(),
        ..Default::default()
    }
    .into()
}

/// Returns whether an offset separates `\r` from `\n`.
fn is_within_ending(text: &Snapshot, offset: ByteOffset) -> bool {
    text.clip(offset, Bias::Left) != offset
}

/// Returns whether `span`, or the char before it, contains a `\r` that no `\n` follows.
fn has_lone_return(text: &Snapshot, span: Span) -> bool {
    let window = Span::new(span.start - 1, (span.end + 1).min(text.len()));
    let mut previous = None;
    let mut offset = text.clip(window.start, Bias::Left);
    // A return at the start of the window may have been moved to by `clip`; it is checked as well.
    for chunk in text.chunks(Span::new(offset, window.end)) {
        for byte in chunk.bytes() {
            if previous == Some(b'\r') && byte != b'\n' {
                return true;
            }
            previous = Some(byte);
            offset += 1;
        }
    }
    // The last byte lies behind the span, unless the span ends with the text.
    previous == Some(b'\r') && offset <= span.end
}

/// Returns the change from one text to another as one splice, for positions to follow.
fn replacement(before: &Snapshot, after: &Snapshot) -> Change {
    let (old_len, new_len) = (before.len().0, after.len().0);
    let start = ByteOffset(0);
    let pairs = before.chars_at(start).zip(after.chars_at(start));
    let prefix: usize = pairs
        .take_while(|(a, b)| a == b)
        .map(|(char, _)| char.len_utf8())
        .sum();
    let pairs = before
        .chars_before(before.len())
        .zip(after.chars_before(after.len()));
    let common: usize = pairs
        .take_while(|(a, b)| a == b)
        .map(|(char, _)| char.len_utf8())
        .sum();
    let suffix = common.min(old_len.min(new_len) - prefix);
    let splice = Splice {
        old: Span::from(prefix..old_len - suffix),
        new: Span::from(prefix..new_len - suffix),
    };
    let mut change = Change::none(before.revision());
    change.after = after.revision();
    if !splice.old.is_empty() || !splice.new.is_empty() {
        change.splices.push(splice);
    }
    change
}

#[cfg(test)]
mod tests;
