//! Builder of edits with position mapping.
//!
//! Invariant: the edits are sorted and disjoint; insertions at one offset keep their order.
//! Everything is one pass: a push is O(1), a mapping O(log edits).
//! Start at `EditDraft::push`; most commands need only `replace_each`.

use base::{Bias, ByteOffset, Span};
use text::{Edit, EditKind, Selection, SelectionSet};

use crate::context::{CaretPlan, CommandContext, CommandMemory};

/// Sorted edits under construction, which maps offsets to the text after all of them.
#[derive(Debug, Default)]
pub(crate) struct EditDraft {
    edits: Vec<Edit>,
    /// Start of each edit's text after applying all edits.
    landings: Vec<ByteOffset>,
    inserted: usize,
    removed: usize,
}

impl EditDraft {
    /// Creates a draft without edits.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends an edit and returns the start of its text after all edits. A span that overlaps the
    /// previous edit is cut; a cut deletion extends the previous one.
    pub(crate) fn push(&mut self, span: Span, text: impl Into<String>) -> ByteOffset {
        let text = text.into();
        let last_end = self
            .edits
            .last()
            .map_or(ByteOffset(0), |edit| edit.span.end);
        let start = span.start.max(last_end);
        let span = Span::new(start, span.end.max(start));
        let landing = ByteOffset(start.0 + self.inserted - self.removed);
        if span.is_empty() && text.is_empty() {
            return landing;
        }
        self.inserted += text.len();
        self.removed += span.len();
        match self.edits.last_mut() {
            Some(last) if last.text.is_empty() && text.is_empty() && last.span.end == start => {
                last.span.end = span.end;
            }
            _ => {
                self.edits.push(Edit { span, text });
                self.landings.push(landing);
            }
        }
        landing
    }

    /// Maps an offset through the edits. Inside a replaced span, or where text is inserted, `bias`
    /// chooses the side; the edges of a replaced span stay its edges.
    pub(crate) fn map(&self, offset: ByteOffset, bias: Bias) -> ByteOffset {
        // The first edit that does not end before the offset.
        let first = self.edits.partition_point(|edit| edit.span.end < offset);
        let mut mapped = match first.checked_sub(1) {
            Some(before) => self.landing_end(before) + (offset - self.edits[before].span.end),
            None => offset,
        };
        for (ix, edit) in self.edits.iter().enumerate().skip(first) {
            if edit.span.start > offset {
                break;
            }
            if edit.span.is_empty() {
                if bias == Bias::Right {
                    mapped = self.landing_end(ix);
                }
            } else if edit.span.end == offset {
                mapped = self.landing_end(ix);
            } else if edit.span.start < offset {
                return match bias {
                    Bias::Left => self.landings[ix],
                    Bias::Right => self.landing_end(ix),
                };
            }
        }
        mapped
    }

    fn landing_end(&self, ix: usize) -> ByteOffset {
        self.landings[ix] + self.edits[ix].text.len()
    }

    /// Maps both ends of every selection, with separate biases for start, end and carets.
    pub(crate) fn map_selections(
        &self,
        selections: &SelectionSet,
        start: Bias,
        end: Bias,
        caret: Bias,
    ) -> SelectionSet {
        selections.transform(|selection| {
            if selection.is_empty() {
                return Selection::caret(self.map(selection.head, caret));
            }
            let first = self.map(selection.start(), start);
            let last = self.map(selection.end(), end).max(first);
            let mapped = Selection::new(first, last);
            if selection.is_reversed() {
                reversed(mapped)
            } else {
                mapped
            }
        })
    }

    /// Builds a plan from these edits, merging adjacent ones.
    pub(crate) fn into_plan(self, selections: SelectionSet, kind: EditKind) -> CaretPlan {
        let mut edits: Vec<Edit> = Vec::with_capacity(self.edits.len());
        for edit in self.edits {
            match edits.last_mut() {
                Some(last) if last.span.end == edit.span.start => {
                    last.span.end = edit.span.end;
                    last.text.push_str(&edit.text);
                }
                _ => edits.push(edit),
            }
        }
        CaretPlan {
            edits,
            selections,
            kind,
            memory: CommandMemory::default(),
            unfold: Vec::new(),
            fold: Vec::new(),
        }
    }
}

/// Returns the same selection with anchor and head swapped.
pub(crate) fn reversed(selection: Selection) -> Selection {
    Selection::new(selection.head, selection.anchor)
}

/// Edit of one selection: a replaced span, and the new selection, in bytes from the start of the
/// new text.
#[derive(Clone, Debug, Default)]
pub(crate) struct SelectionEdit {
    pub(crate) span: Span,
    pub(crate) text: String,
    pub(crate) anchor: usize,
    pub(crate) head: usize,
}

impl SelectionEdit {
    /// Replaces a span and puts the caret after the new text.
    pub(crate) fn caret_behind(span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        SelectionEdit {
            span,
            anchor: text.len(),
            head: text.len(),
            text,
        }
    }

    /// Changes nothing and puts a caret at an offset.
    pub(crate) fn caret_at(offset: ByteOffset) -> Self {
        SelectionEdit {
            span: Span::at(offset),
            ..SelectionEdit::default()
        }
    }
}

/// Returns a plan that applies the edit which `swap` returns for each selection. If spans overlap,
/// shortens them so that they are disjoint.
pub(crate) fn replace_each(
    ctx: &CommandContext,
    kind: EditKind,
    mut swap: impl FnMut(&Selection) -> SelectionEdit,
) -> CaretPlan {
    let mut swaps: Vec<SelectionEdit> = ctx.selections.iter().map(&mut swap).collect();
    let mut order: Vec<usize> = (0..swaps.len()).collect();
    order.sort_by_key(|ix| swaps[*ix].span.start);
    let mut draft = EditDraft::new();
    let mut after = vec![Selection::caret(ByteOffset(0)); swaps.len()];
    for ix in order {
        let text = std::mem::take(&mut swaps[ix].text);
        let landing = draft.push(swaps[ix].span, text);
        after[ix] = Selection::new(landing + swaps[ix].anchor, landing + swaps[ix].head);
    }
    let selections = SelectionSet::new(after, ctx.selections.primary_ix());
    draft.into_plan(selections, kind)
}

#[cfg(test)]
mod tests;
