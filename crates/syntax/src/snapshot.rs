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
            next = match self.injection_at(&view, text, offset) {
                Some(InjectionAt::Layer(view)) => Some(view),
                Some(InjectionAt::Span(injection)) => self.view_of(&view, &injection, text),
                None => None,
            };
            views.push(view);
        }
        views
    }

    /// Returns what `views_at` returns, but never parses: `None` if a small injection is not parsed yet.
    pub(crate) fn parsed_views_at(
        &self,
        text: &Snapshot,
        offset: ByteOffset,
    ) -> Option<Vec<TreeView<'_>>> {
        let mut views = Vec::new();
        let mut next = self.root_view();
        while let Some(view) = next {
            next = match self.injection_at(&view, text, offset) {
                Some(InjectionAt::Layer(view)) => Some(view),
                Some(InjectionAt::Span(injection)) => {
                    let is_small = self.is_small(&view, &injection);
                    let small = &self.caches.small;
                    if is_small && !small.is_parsed(&injection, text, view.shift) {
                        return None;
                    }
                    self.view_of(&view, &injection, text)
                }
                None => None,
            };
            views.push(view);
        }
        Some(views)
    }

    /// Returns the innermost injection of a host at an offset.
    fn injection_at<'a>(
        &'a self,
        host: &TreeView<'a>,
        text: &Snapshot,
        offset: ByteOffset,
    ) -> Option<InjectionAt<'a>> {
        if host.depth + 1 >= MAX_DEPTH {
            return None;
        }
        if let Some(layer) = layer_at(host.layers, offset) {
            return Some(InjectionAt::Layer(layer_view(layer, host.depth + 1)));
        }
        let at = offset.0.checked_sub(host.shift)?;
        let around = at.saturating_sub(1)..at + 1;
        let grammar = host.language.grammar();
        let holds = |it: &Injection| it.span.start.0 <= at && at <= it.span.end.0;
        injections_in(grammar, host.root(), text, host.shift, around)
            .into_iter()
            .rfind(holds)
            .map(InjectionAt::Span)
    }

    /// Returns whether an injection of `host` is parsed on demand, not as a layer.
    fn is_small(&self, host: &TreeView<'_>, injection: &Injection) -> bool {
        let has_layers = host.language.grammar().has_layers;
        let max = if has_layers {
            SMALL_BYTES
        } else {
            MAX_SMALL_BYTES
        };
        host.depth + 1 < MAX_DEPTH && injection.span.len() <= max
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

/// An injection at an offset: a layer with its tree, or a span of the text.
enum InjectionAt<'a> {
    Layer(TreeView<'a>),
    Span(Injection),
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
