//! Highlights of the visible rows: computed in the background, except for rows that have none yet.
//!
//! A key highlights the rows in which the tree changed. All rows are highlighted again when typing
//! rests, because a highlight may depend on a distant node.

use std::ops::Range;

use base::{Row, Span};
use gpui_kit::{App, AppContext as _, Context, Task};
use text::{Change, Snapshot};

use super::Editor;
use crate::frame::{RowHighlights, TextColours};

/// State of the highlights in a view.
#[derive(Default)]
pub(crate) struct Highlighting {
    task: Option<Task<()>>,
    /// The tree from which the cached rows have their highlights, changed rows apart.
    base: Option<HighlightedTree>,
    /// Whether only rows in which the tree changed were highlighted lately.
    is_partial: bool,
}

/// A tree with the semantic tokens and the text, from which rows are highlighted.
#[derive(Clone)]
struct HighlightedTree {
    colours: TextColours,
    text: Snapshot,
}

/// Highlights of consecutive rows, by the first of them.
type HighlightedRows = Vec<(Row, Vec<RowHighlights>)>;

impl Highlighting {
    /// Forgets what the highlights were computed from.
    pub(crate) fn reset(&mut self) {
        self.base = None;
    }
}

impl HighlightedTree {
    /// Returns the highlights of the rows among `wanted` in which the tree may differ from `base`;
    /// `None` if that is unknown.
    fn changed_rows(
        &self,
        base: &HighlightedTree,
        change: &Change,
        wanted: &Range<Row>,
    ) -> Option<HighlightedRows> {
        let before = (base.colours.syntax.as_ref()?, &base.text);
        let syntax = self.colours.syntax.as_ref()?;
        let spans = syntax.changed_spans(before, &self.text, change)?;
        let rows = row_ranges(&spans, &self.text, wanted).into_iter();
        Some(rows.map(|rows| (rows.start, self.rows(rows))).collect())
    }

    fn rows(&self, rows: Range<Row>) -> Vec<RowHighlights> {
        self.colours.of_rows(&self.text, rows)
    }
}

impl Editor {
    /// Brings the highlights of the visible rows up to date in the background and requests a frame.
    /// Until the new highlights arrive, frames show the old ones. Drops results for another
    /// revision.
    pub(crate) fn highlight_in_background(&mut self, cx: &mut Context<Self>) {
        let is_being_edited = self.model.read(cx).is_being_edited();
        let base = self.highlighting.base.clone();
        self.highlight_since(base.filter(|_| is_being_edited), cx);
    }

    /// Highlights all visible rows if only some were highlighted while the user typed.
    pub(super) fn highlight_at_rest(&mut self, cx: &mut Context<Self>) {
        if self.highlighting.is_partial {
            self.highlight_since(None, cx);
        }
    }

    /// Highlights the rows that differ from those of `base`; all rows if it is `None`.
    fn highlight_since(&mut self, base: Option<HighlightedTree>, cx: &mut Context<Self>) {
        let rows = self.rows.range();
        if rows.is_empty() {
            return;
        }
        if self.excerpts.is_some() {
            return self.highlight_excerpts(rows, cx);
        }
        let model = self.model.read(cx);
        let Some(colours) = text_colours(self, cx) else {
            return;
        };
        let text = self.snapshot.clone();
        let revision = text.revision();
        let is_outdated = colours
            .syntax
            .as_ref()
            .is_some_and(|syntax| syntax.has_tree() && syntax.parsed_revision() != Some(revision));
        if is_outdated {
            // A newer tree follows.
            return;
        }
        let base = base.and_then(|base| {
            let known = base.text.revision();
            let change = if known == revision {
                Change::none(revision)
            } else {
                model.document().buffer().changes_since(known)?
            };
            Some((base, change))
        });
        let tree = HighlightedTree { colours, text };
        let found = cx.background_spawn(async move {
            let changed = base.and_then(|(base, change)| tree.changed_rows(&base, &change, &rows));
            let is_whole = changed.is_none();
            let found = changed.unwrap_or_else(|| vec![(rows.start, tree.rows(rows))]);
            (tree, found, is_whole)
        });
        self.highlighting.task = Some(cx.spawn(async move |this, cx| {
            let (tree, found, is_whole) = found.await;
            // The view may have been closed.
            this.update(cx, |editor, cx| {
                if editor.snapshot.revision() == revision {
                    editor.take_highlights(found, cx);
                    editor.highlighting.base = Some(tree);
                    editor.highlighting.is_partial = !is_whole;
                }
            })
            .ok();
        }));
    }

    fn highlight_excerpts(&mut self, rows: Range<Row>, cx: &mut Context<Self>) {
        let Some(excerpts) = &self.excerpts else {
            return;
        };
        let revision = self.snapshot.revision();
        let colours = excerpts.read(cx).colours(rows.clone(), cx);
        let found = cx.background_spawn(async move { colours.of_rows() });
        self.highlighting.task = Some(cx.spawn(async move |this, cx| {
            let found = vec![(rows.start, found.await)];
            this.update(cx, |editor, cx| {
                if editor.snapshot.revision() == revision {
                    editor.take_highlights(found, cx);
                }
            })
            .ok();
        }));
    }

    /// Stores the highlights of rows of the present text.
    fn take_highlights(&mut self, found: HighlightedRows, cx: &mut Context<Self>) {
        let mut differ = false;
        for (first, highlights) in found {
            differ |= self.rows.take_highlights(first, highlights);
        }
        if differ {
            cx.notify();
        }
    }
}

/// Returns the sources of the highlights of a text; `None` if it has neither a tree nor tokens.
pub(crate) fn text_colours(editor: &Editor, cx: &App) -> Option<TextColours> {
    let model = editor.model.read(cx);
    let syntax = model.syntax().cloned();
    let tokens = model.semantic_tokens();
    let tokens = tokens.filter(|_| editor.settings.semantic_highlighting);
    let is_plain = syntax.is_none() && tokens.is_none();
    (!is_plain).then_some(TextColours { syntax, tokens })
}

/// Highlights all visible rows again: the semantic tokens are others, or may not be shown any more.
pub(super) fn tokens_changed(editor: &mut Editor, cx: &mut Context<Editor>) {
    // Rows apart from the changed ones have the tokens of before.
    let before = editor.highlighting.base.take();
    // It may be the last owner of many tokens.
    cx.background_spawn(async move { drop(before) }).detach();
    editor.sticky.shapes.clear();
    editor.highlight_since(None, cx);
}

/// Returns the rows of spans among `wanted`, as sorted, disjoint ranges.
fn row_ranges(spans: &[Span], text: &Snapshot, wanted: &Range<Row>) -> Vec<Range<Row>> {
    let mut ranges: Vec<Range<Row>> = Vec::new();
    for span in spans {
        let start = text.point_at(span.start).row.max(wanted.start);
        let end = (text.point_at(span.end).row + 1).min(wanted.end);
        match ranges.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ if start < end => ranges.push(start..end),
            _ => {}
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use base::{Row, Span};
    use text::Snapshot;

    use super::row_ranges;

    #[test]
    fn spans_become_visible_rows() {
        let text = Snapshot::new("a\nb\nc\nd\ne\nf\n");
        let check = |spans: &[(usize, usize)], expect: &[(u32, u32)]| {
            let spans: Vec<Span> = spans.iter().map(|it| Span::from(it.0..it.1)).collect();
            let found = row_ranges(&spans, &text, &(Row(1)..Row(5)));
            let found: Vec<_> = found.iter().map(|it| (it.start.0, it.end.0)).collect();
            assert_eq!(found, expect, "{spans:?}");
        };
        check(&[], &[]);
        check(&[(0, 1)], &[]);
        check(&[(0, 3)], &[(1, 2)]);
        check(&[(2, 3), (4, 5)], &[(1, 3)]);
        check(&[(2, 3), (8, 9)], &[(1, 2), (4, 5)]);
        check(&[(8, 20)], &[(4, 5)]);
        check(&[(10, 11)], &[]);
    }
}
