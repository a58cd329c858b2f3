//! The outline of a text.

use base::Span;
use text::Snapshot;
use tree_sitter::{Node, StreamingIterator};

use crate::cursors::with_query_cursor;
use crate::outline_item::{OutlineItem, item, kinds_of, sorted};
use crate::snapshot::SyntaxSnapshot;
use crate::source::BytePieces;

impl SyntaxSnapshot {
    /// Returns the outline of the whole text, in text order. Takes time proportional to the text,
    /// so call it on a background thread.
    pub fn outline(&self, text: &Snapshot) -> Vec<OutlineItem> {
        let Some(view) = self.root_view() else {
            return Vec::new();
        };
        let Some(query) = &view.language.grammar().outline else {
            return Vec::new();
        };
        let kinds = kinds_of(query);
        let whole = 0..text.len().0;
        let bytes = |node: Node<'_>| BytePieces::new(text, node.byte_range());
        let words = |span: Span| text.text(span).into_owned();
        let items: Vec<(usize, OutlineItem)> = with_query_cursor(whole, |cursor| {
            let mut matches = cursor.matches(query, view.root(), bytes);
            let mut items = Vec::new();
            while let Some(one) = matches.next() {
                let item = item(one, &kinds, text.len().0, &words);
                items.extend(item.map(|item| (one.pattern_index, item)));
            }
            items
        });
        sorted(items)
    }
}

#[cfg(test)]
mod tests;
