//! The trees of a text at one revision, for queries on any thread.
//!
//! Every query also takes the text, which should be of the same revision. Each feature is in its
//! own module: `highlight`, `brackets`, `folds`, `indent`, `outline`, `expand`, `context`, `scope`.
//! Invariant: no query panics or returns offsets beyond the text, even if the tree is stale.

use std::sync::Arc;

use base::{ByteOffset, Revision};
use text::Snapshot;
use tree_sitter::{Node, Tree};

use crate::injection::{Injection, injections_in};
use crate::language::Language;
use crate::layers::small::{SmallLayer, SmallLayers};
use crate::layers::{
    InjectionLayer, LayeredTrees, MAX_DEPTH, MAX_SMALL_BYTES, SMALL_BYTES, layer_at,
};
use crate::outline::OutlineCache;

/// A text's syntax trees at one moment, for queries on any thread. Cheap to clone. Pass the text of
/// `revision` to each query. Without a tree, queries return empty results, or results derived from
/// the text alone.
#[derive(Clone)]
pub struct SyntaxSnapshot {
    language: Language,
    trees: Option<LayeredTrees>,
    revision: Revision,
    parsed: Option<Revision>,
    caches: SnapshotCaches,
}

/// Results that all snapshots of a tree share.
#[derive(Clone, Default)]
pub(crate) struct SnapshotCaches {
    /// Trees of small injections.
    pub(crate) small: Arc<SmallLayers>,
    pub(crate) outlines: Arc<OutlineCache>,
}

/// One tree of the text as seen by a query: the root, a layer or a small injection, with its
/// language and offset.
pub(crate) struct TreeView<'a> {
    pub(crate) language: Language,
    pub(crate) tree: TreeRef<'a>,
    /// Offset to add to the tree's offsets.
    pub(crate) shift: usize,
    pub(crate) layers: &'a [InjectionLayer],
    pub(crate) depth: usize,
}

/// A tree of the snapshot, or one parsed for the query.
pub(crate) enum TreeRef<'a> {
    Kept(&'a Tree),
    Small(Arc<SmallLayer>),
}

impl SyntaxSnapshot {
    /// Creates a snapshot. `trees` have the offsets of the text at `revision` and the structure of
    /// the text at `parsed`.
    pub(crate) fn new(
        language: Language,
        trees: Option<LayeredTrees>,
        revision: Revision,
        parsed: Option<Revision>,
        caches: SnapshotCaches,
    ) -> Self {
        Self {
            language,
            trees,
            revision,
            parsed,
            caches,
        }
    }

    /// Returns the language of the text, ignoring injections.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the revision of the text whose offsets the trees have. Pass the text of this
    /// revision to queries.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the revision of the text whose structure the trees have. While a parse is pending,
    /// it is older than `revision`. Returns `None` before the first parse.
    pub fn parsed_revision(&self) -> Option<Revision> {
        self.parsed
    }

    /// Returns whether there is a tree. Before the first parse, and for texts that are too large,
    /// there is no tree.
    pub fn has_tree(&self) -> bool {
        self.trees.is_some()
    }

    /// Returns the language at an offset. Within an injection, this is the language of the
    /// injection.
    pub fn language_at(&self, text: &Snapshot, offset: ByteOffset) -> Language {
        self.views_at(text, offset)
            .last()
            .map_or(self.language, |view| view.language)
    }

    /// Returns the trees. Returns `None` if there is no tree.
    pub(crate) fn trees(&self) -> Option<&LayeredTrees> {
        self.trees.as_ref()
    }

    /// Returns a snapshot with other trees, parsed from a text at a revision that need not be one
    /// of the document.
    pub(crate) fn with_trees(&self, trees: LayeredTrees, revision: Revision) -> Self {
        Self {
            language: self.language,
            trees: Some(trees),
            revision,
            parsed: Some(revision),
            caches: SnapshotCaches {
                small: self.caches.small.clone(),
                outlines: Arc::default(),
            },
        }
    }

    /// Returns the outline of the document and the changes since.
    pub(crate) fn outline_cache(&self) -> &OutlineCache {
        &self.caches.outlines
    }

    /// Returns the tree of the whole text. Returns `None` if there is no tree.
    pub(crate) fn root_view(&self) -> Option<TreeView<'_>> {
        let trees = self.trees.as_ref()?;
        Some(TreeView {
            language: self.language,
            tree: TreeRef::Kept(&trees.root),
            shift: 0,
            layers: &trees.layers,
            depth: 0,
        })
    }

    /// Returns the trees that contain an offset, from the root to the innermost injection. Parses
    /// small injections if necessary. Returns an empty list without a tree.
    pub(crate) fn views_at(&self, text: &Snapshot, offset: ByteOffset) -> Vec<TreeView<'_>> {
        let mut views = Vec::new();
        let mut next = self.root_view();
        while let Some(view) = next {
            next = self.view_within(&view, text, offset);
            views.push(view);
        }
        views
    }

    /// The tree of the injection at an offset of a host.
    fn view_within<'a>(
        &'a self,
        host: &TreeView<'a>,
        text: &Snapshot,
        offset: ByteOffset,
    ) -> Option<TreeView<'a>> {
        if host.depth + 1 >= MAX_DEPTH {
            return None;
        }
        if let Some(layer) = layer_at(host.layers, offset) {
            return Some(layer_view(layer, host.depth + 1));
        }
        let at = offset.0.checked_sub(host.shift)?;
        let around = at.saturating_sub(1)..at + 1;
        let grammar = host.language.grammar();
        let holds = |it: &Injection| it.span.start.0 <= at && at <= it.span.end.0;
        injections_in(grammar, host.root(), text, host.shift, around)
            .into_iter()
            .rfind(holds)
            .and_then(|injection| self.view_of(host, &injection, text))
    }

    /// Returns the tree of an injection of `host`. Returns `None` if the injection is nested too
    /// deeply or has no tree.
    pub(crate) fn view_of<'a>(
        &'a self,
        host: &TreeView<'a>,
        injection: &Injection,
        text: &Snapshot,
    ) -> Option<TreeView<'a>> {
        let depth = host.depth + 1;
        if depth >= MAX_DEPTH {
            return None;
        }
        let has_layers = host.language.grammar().has_layers;
        if has_layers && injection.span.len() > SMALL_BYTES {
            let layer = layer_at(host.layers, injection.span.start + host.shift)?;
            return (layer.language == injection.language).then(|| layer_view(layer, depth));
        }
        if injection.span.len() > MAX_SMALL_BYTES {
            return None;
        }
        Some(TreeView {
            language: injection.language,
            tree: TreeRef::Small(self.caches.small.layer(injection, text, host.shift)?),
            shift: host.shift + injection.span.start.0,
            layers: &[],
            depth,
        })
    }
}

fn layer_view(layer: &InjectionLayer, depth: usize) -> TreeView<'_> {
    TreeView {
        language: layer.language,
        tree: TreeRef::Kept(&layer.tree),
        shift: 0,
        layers: &layer.layers,
        depth,
    }
}

impl TreeView<'_> {
    /// Returns the root node of the tree.
    pub(crate) fn root(&self) -> Node<'_> {
        match &self.tree {
            TreeRef::Kept(tree) => tree.root_node(),
            TreeRef::Small(layer) => layer.tree.root_node(),
        }
    }
}
