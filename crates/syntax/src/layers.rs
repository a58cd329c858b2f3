//! The trees of a text: the root, and layers for its injections.
//!
//! Injections come in two sizes. Those above `SMALL_BYTES` are layers here: trees of their own,
//! edited and parsed incrementally together with the root. Smaller ones are parsed on demand and
//! cached by content in `small`. Languages in which large ones are rare have no layers; up to
//! `MAX_SMALL_BYTES` are then small, the others plain.
//! Invariant: layers of one host are sorted and disjoint.

pub(crate) mod small;

use std::sync::Arc;

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::{InputEdit, Parser, Range, Tree};

use crate::injection::{Injection, injections_in};
use crate::language::Language;
use crate::source::bytes_at;
use crate::stall_guard;
use crate::stall_guard::{ParseHalt, Progress};

/// Injections up to this size, in bytes, are parsed on demand. Larger ones get a layer of their
/// own.
pub(crate) const SMALL_BYTES: usize = 4096;

/// In languages without layers, injections up to this size, in bytes, are parsed on demand. Larger
/// ones have no tree.
pub(crate) const MAX_SMALL_BYTES: usize = 16 * 1024;

/// Maximum number of large injections in one host; further ones have no highlights.
const MAX_LAYERS: usize = 256;

/// Maximum nesting of injections.
pub(crate) const MAX_DEPTH: usize = 4;

/// The tree of a text and the trees of its large injections (layers). All trees use the offsets of
/// the text.
#[derive(Clone)]
pub(crate) struct LayeredTrees {
    pub(crate) root: Tree,
    pub(crate) layers: Arc<Vec<InjectionLayer>>,
}

/// A large injection with its own tree.
#[derive(Clone)]
pub(crate) struct InjectionLayer {
    pub(crate) language: Language,
    pub(crate) tree: Tree,
    pub(crate) span: Span,
    pub(crate) layers: Vec<InjectionLayer>,
}

impl LayeredTrees {
    /// Shifts the offsets of every tree for an edit of the text. Until the next parse, the
    /// structure of the trees stays that of the old text.
    pub(crate) fn edit(&mut self, edit: &InputEdit) {
        self.root.edit(edit);
        if !self.layers.is_empty() {
            edit_layers(Arc::<Vec<InjectionLayer>>::make_mut(&mut self.layers), edit);
        }
    }

    /// Returns whether any tree contains syntax errors.
    pub(crate) fn has_error(&self) -> bool {
        fn any(layers: &[InjectionLayer]) -> bool {
            layers
                .iter()
                .any(|layer| layer.tree.root_node().has_error() || any(&layer.layers))
        }
        self.root.root_node().has_error() || any(&self.layers)
    }
}

/// Returns the layer that contains the byte at `offset`, or ends at `offset`. Returns `None`
/// between layers.
pub(crate) fn layer_at(layers: &[InjectionLayer], offset: ByteOffset) -> Option<&InjectionLayer> {
    let after = layers.partition_point(|layer| layer.span.start <= offset);
    let layer = &layers[after.checked_sub(1)?];
    (offset <= layer.span.end).then_some(layer)
}

fn edit_layers(layers: &mut [InjectionLayer], edit: &InputEdit) {
    for layer in layers {
        layer.tree.edit(edit);
        layer.span = edited_span(layer.span, edit);
        edit_layers(&mut layer.layers, edit);
    }
}

fn edited_span(span: Span, edit: &InputEdit) -> Span {
    let moved = |offset: usize| {
        if offset >= edit.old_end_byte {
            edit.new_end_byte + (offset - edit.old_end_byte)
        } else {
            offset.min(edit.new_end_byte)
        }
    };
    let start = match span.start.0 {
        // Text inserted at the start or the end of an injection belongs to it.
        start if start == edit.start_byte => start,
        start => moved(start),
    };
    Span::new(ByteOffset(start), ByteOffset(moved(span.end.0)))
}

/// Parses `text`, or the parts of it in the parser's ranges.
///
/// `old` is the previous tree, with the edits since applied, whose unchanged parts are reused.
/// `progress` is called regularly and may stop the parse: the error is then `Stopped`, and the
/// parser goes on where it was when called again for the same text. The error is `Stuck` if the
/// parse would never end; the parser must then be reset.
pub(crate) fn parse_text(
    parser: &mut Parser,
    text: &Snapshot,
    old: Option<&Tree>,
    progress: Progress<'_>,
) -> Result<Tree, ParseHalt> {
    let read = &mut |offset: usize, _| bytes_at(text, offset);
    stall_guard::parse(parser, text.len().0, read, old, progress)
}

/// Resets a parser for a language and the ranges to parse. If `ranges` is empty, the parser parses
/// the whole text. Returns false if the parser rejects the language or the ranges.
pub(crate) fn set_up(parser: &mut Parser, language: Language, ranges: &[Range]) -> bool {
    parser.reset();
    let is_known = parser.set_language(&language.grammar().language).is_ok();
    is_known && parser.set_included_ranges(ranges).is_ok()
}

/// Previous trees of a host, and the ranges that changed since.
pub(crate) struct PreviousTree<'a> {
    pub(crate) tree: &'a Tree,
    /// In step with `tree`'s edits.
    pub(crate) layers: &'a [InjectionLayer],
    pub(crate) dirty: &'a [std::ops::Range<usize>],
}

/// Finds and parses the large injections of a host, reusing the previous layers.
///
/// `prepare_all` also prepares the languages of small injections during the pass over the whole
/// text.
pub(crate) struct LayerParse<'a> {
    pub(crate) text: &'a Snapshot,
    pub(crate) parser: &'a mut Parser,
    pub(crate) prepare_all: bool,
}

impl LayerParse<'_> {
    /// Returns the layers of `host`, which is at the nesting level `depth`. Returns `None` if
    /// `progress` stopped the work. If `before` is given, parses again only the layers near changed
    /// ranges.
    pub(crate) fn layers(
        &mut self,
        host: &Tree,
        language: Language,
        before: Option<PreviousTree<'_>>,
        depth: usize,
        progress: Progress<'_>,
    ) -> Option<Vec<InjectionLayer>> {
        let grammar = language.grammar();
        if depth >= MAX_DEPTH || grammar.injections.is_none() {
            return Some(Vec::new());
        }
        // One pass over the whole text prepares the embedded languages.
        let is_first_pass = before.is_none() && self.prepare_all;
        if !grammar.has_layers && !is_first_pass {
            return Some(Vec::new());
        }
        let stale = stale_ranges(host, before.as_ref());
        let mut layers: Vec<InjectionLayer> = kept_layers(before.as_ref(), &stale);
        let kept = layers.len();
        for range in &stale {
            for injection in injections_in(grammar, host.root_node(), self.text, 0, range.clone()) {
                if !grammar.has_layers || injection.span.len() <= SMALL_BYTES {
                    if self.prepare_all {
                        injection.language.prepare();
                    }
                    continue;
                }
                let is_known = |layer: &InjectionLayer| layer.span.overlaps(injection.span);
                if layers.len() >= MAX_LAYERS || layers.iter().any(is_known) {
                    continue;
                }
                let old = before
                    .as_ref()
                    .and_then(|it| matching(it.layers, &injection));
                let dirty = before.as_ref().map_or(&[][..], |it| it.dirty);
                match self.layer(injection, old, dirty, depth, progress) {
                    Ok(layer) => layers.push(layer),
                    // It stays without colours.
                    Err(ParseHalt::Stuck) => {}
                    Err(ParseHalt::Stopped) => return None,
                }
            }
        }
        if layers.len() > kept {
            layers.sort_by_key(|layer| layer.span.start);
        }
        Some(layers)
    }

    /// Parses an injection of a host at the nesting level `depth`, and those within it. `old` is
    /// the layer it had before. Returns `Stopped` if `progress` stopped the work, and `Stuck` if
    /// the parser makes no progress on its text.
    fn layer(
        &mut self,
        injection: Injection,
        old: Option<&InjectionLayer>,
        dirty: &[std::ops::Range<usize>],
        depth: usize,
        progress: Progress<'_>,
    ) -> Result<InjectionLayer, ParseHalt> {
        let language = injection.language;
        set_up(self.parser, language, &injection.ranges);
        let tree = parse_text(self.parser, self.text, old.map(|it| &it.tree), progress)?;
        let before = old.map(|it| PreviousTree {
            tree: &it.tree,
            layers: &it.layers,
            dirty,
        });
        let layers = self.layers(&tree, language, before, depth + 1, progress);
        let layers = layers.ok_or(ParseHalt::Stopped)?;
        Ok(InjectionLayer {
            language,
            tree,
            span: injection.span,
            layers,
        })
    }
}

/// Returns the ranges where a query may find other matches than in the previous tree, sorted and
/// disjoint: everything, if no previous tree is known.
pub(crate) fn stale_ranges(
    host: &Tree,
    before: Option<&PreviousTree<'_>>,
) -> Vec<std::ops::Range<usize>> {
    let Some(before) = before else {
        return vec![host.root_node().byte_range()];
    };
    let changed = before.tree.changed_ranges(host);
    let mut ranges: Vec<std::ops::Range<usize>> = changed
        .map(|range| range.start_byte..range.end_byte)
        .chain(before.dirty.iter().cloned())
        .map(|range| range.start.saturating_sub(1)..range.end + 1)
        .collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

/// The layers that no stale range touches.
fn kept_layers(
    before: Option<&PreviousTree<'_>>,
    stale: &[std::ops::Range<usize>],
) -> Vec<InjectionLayer> {
    let Some(before) = before else {
        return Vec::new();
    };
    let is_stale = |layer: &InjectionLayer| {
        let first = stale.partition_point(|range| range.end < layer.span.start.0);
        stale
            .get(first)
            .is_some_and(|range| range.start <= layer.span.end.0)
    };
    before
        .layers
        .iter()
        .filter(|layer| !is_stale(layer))
        .cloned()
        .collect()
}

/// Returns the first layer of the injection's language that overlaps the injection; `None` if there
/// is none.
fn matching<'a>(layers: &'a [InjectionLayer], injection: &Injection) -> Option<&'a InjectionLayer> {
    layers
        .iter()
        .find(|layer| layer.language == injection.language && layer.span.overlaps(injection.span))
}
