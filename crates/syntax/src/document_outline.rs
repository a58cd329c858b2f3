//! The outline of a document, from its syntax tree.

use text::Snapshot;

use crate::outline::{Outline, OutlineSource};
use crate::outline_item::OutlineItem;
use crate::snapshot::SyntaxSnapshot;

impl SyntaxSnapshot {
    /// Returns the outline of the whole text, in text order, as `shared_outline` and
    /// `Outline::items` do.
    pub fn outline(&self, text: &Snapshot) -> Vec<OutlineItem> {
        self.shared_outline(text).items()
    }

    /// Returns the outline of the document, which all snapshots of its tree share. The first call
    /// takes time proportional to the text, and later ones to the changes since: call it on a
    /// background thread. While a parse is pending, the outline has the older structure. Without a
    /// tree, and for languages without an outline, it is empty.
    pub fn shared_outline(&self, text: &Snapshot) -> Outline {
        let trees = self.trees();
        let query = self.language().grammar().outline.as_ref();
        let (Some(trees), Some(query)) = (trees, query) else {
            return Outline::empty(self.revision());
        };
        self.outline_cache().outline(&OutlineSource {
            tree: &trees.root,
            query,
            text,
            revision: self.revision(),
            parsed: self.parsed_revision(),
            parameters: &|span| self.parameters(text, span),
        })
    }
}
