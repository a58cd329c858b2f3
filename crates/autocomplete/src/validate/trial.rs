//! A suggestion as short texts that the parser can judge: an excerpt around it, before and after.

use base::Span;
use syntax::Language;
use text::Snapshot;

use crate::{EditorState, SuggestedEdit};

/// Maximum bytes of the excerpt of the text; a longer one is not judged.
const MAX_EXCERPT_BYTES: usize = 4 * 1_024;

/// The text around a suggestion, with the old text and the new text of all its edits in one piece.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) language: Language,
    /// Text up to the first edit.
    pub(super) prefix: String,
    /// Text from the first edit to the end of the last one, as it is.
    pub(super) old: String,
    /// The same text as the suggestion leaves it.
    pub(super) new: String,
    /// Text after the last edit.
    pub(super) suffix: String,
}

impl Trial {
    /// Returns the trial of edits, which are sorted. Returns `None` without a tree, or if the edits
    /// and what surrounds them are too long.
    pub(super) fn new(state: &EditorState, edits: &[SuggestedEdit]) -> Option<Self> {
        let syntax = state.syntax.as_ref()?;
        let text = &state.snapshot;
        if syntax.revision() != text.revision() {
            return None;
        }
        let spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
        let (first, last) = (spans.first()?.start, spans.last()?.end);
        let excerpt = Excerpt {
            text,
            kept: syntax.excerpt(text, &spans, MAX_EXCERPT_BYTES)?,
        };
        let (mut old, mut new) = (String::new(), String::new());
        let mut at = first;
        for edit in edits {
            let between = excerpt.text(Span::new(at, edit.span.start));
            old.push_str(&between);
            old.push_str(&edit.old);
            new.push_str(&between);
            new.push_str(&edit.new);
            at = edit.span.end;
        }
        Some(Self {
            language: syntax.language(),
            prefix: excerpt.text(Span::new(0.into(), first)),
            old,
            new,
            suffix: excerpt.text(Span::new(last, text.len())),
        })
    }

    /// Returns the text before the suggestion is applied.
    pub(super) fn before(&self) -> String {
        [self.prefix.as_str(), &self.old, &self.suffix].concat()
    }

    /// Returns the text after the suggestion is applied, with `more` after the new text.
    pub(super) fn after(&self, more: &str) -> String {
        [self.prefix.as_str(), &self.new, more, &self.suffix].concat()
    }

    /// Returns the text up to the end of the new text.
    pub(super) fn up_to_end(&self) -> String {
        [self.prefix.as_str(), &self.new].concat()
    }

    /// Returns the row up to the new text.
    pub(super) fn begun(&self) -> &str {
        self.prefix.rsplit('\n').next().unwrap_or_default()
    }

    /// Returns the rest of the row after the new text.
    pub(super) fn rest_of_row(&self) -> &str {
        self.suffix.split('\n').next().unwrap_or_default()
    }
}

/// Parts of a text.
struct Excerpt<'a> {
    text: &'a Snapshot,
    kept: Vec<Span>,
}

impl Excerpt<'_> {
    /// Returns the parts within a span.
    fn text(&self, span: Span) -> String {
        let parts = self.kept.iter().filter_map(|kept| {
            let (start, end) = (kept.start.max(span.start), kept.end.min(span.end));
            (start < end).then(|| self.text.text(Span::new(start, end)))
        });
        parts.collect()
    }
}
