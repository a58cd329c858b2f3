//! The trees of a text: the root, and layers for the injections in it.
//!
//! Injections come in two sizes. Those above `SMALL_BYTES` are layers here: trees of their own,
//! kept in step with edits and parsed incrementally, with the root. The many below it are parsed
//! when somebody looks at them, and kept by their content in `small`. Languages in which large
//! ones are rare have no layers; up to `MOST_SMALL_BYTES` are then small, the others plain.
//! Invariant: layers of one host are sorted and disjoint.

pub(crate) mod small;

use std::ops::ControlFlow;
use std::sync::Arc;

use base::{ByteOffset, Span};
use text::Snapshot;
use tree_sitter::{InputEdit, ParseState, Parser, Range, Tree};

use crate::headway::{self, Halt};
use crate::injection::{Injection, injections_in};
use crate::language::Language;
use crate::source::bytes_at;

/// Injections of at most so many bytes are parsed when they are looked at.
pub(crate) const SMALL_BYTES: usize = 4096;

/// The same, in languages without layers.
pub(crate) const MOST_SMALL_BYTES: usize = 16 * 1024;

/// More large injections than this in one host stay without colours.
const MOST_LAYERS: usize = 256;

/// Injections nest at most so deep.
pub(crate) const MOST_DEPTH: usize = 4;

/// The root tree of a text and the layers in it, all in its coordinates.
#[derive(Clone)]
pub(crate) struct Trees {
    pub(crate) root: Tree,
    pub(crate) layers: Arc<Vec<Layer>>,
}

/// A large injection.
#[derive(Clone)]
pub(crate) struct Layer {
    pub(crate) language: Language,
    pub(crate) tree: Tree,
    pub(crate) span: Span,
    pub(crate) layers: Vec<Layer>,
}

/// Stops a parse when it says so; asked every hundred steps or so.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(&ParseState) -> ControlFlow<()>;

impl Trees {
    /// Moves every tree along with an edit of the text.
    pub(crate) fn edit(&mut self, edit: &InputEdit) {
        self.root.edit(edit);
        if !self.layers.is_empty() {
            edit_layers(Arc::<Vec<Layer>>::make_mut(&mut self.layers), edit);
        }
    }

    /// Whether any tree holds errors.
    pub(crate) fn has_error(&self) -> bool {
        fn any(layers: &[Layer]) -> bool {
            layers
                .iter()
                .any(|layer| layer.tree.root_node().has_error() || any(&layer.layers))
        }
        self.root.root_node().has_error() || any(&self.layers)
    }
}

/// The layer that holds the byte at `offset`.
pub(crate) fn layer_at(layers: &[Layer], offset: ByteOffset) -> Option<&Layer> {
    let after = layers.partition_point(|layer| layer.span.start <= offset);
    let layer = &layers[after.checked_sub(1)?];
    (offset <= layer.span.end).then_some(layer)
}

fn edit_layers(layers: &mut [Layer], edit: &InputEdit) {
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
        // Text put in right at the start of an injection belongs to it, like text put in its end.
        start if start == edit.start_byte => start,
        start => moved(start),
    };
    Span::new(ByteOffset(start), ByteOffset(moved(span.end.0)))
}

/// Parses `text`, or the parts of it in the parser's ranges.
///
/// A parser that was stopped goes on where it was when called again for the same text.
pub(crate) fn parse_text(
    parser: &mut Parser,
    text: &Snapshot,
    old: Option<&Tree>,
    progress: Progress<'_>,
) -> Result<Tree, Halt> {
    let read = &mut |offset: usize, _| bytes_at(text, offset);
    headway::parse(parser, text.len().0, read, old, progress)
}

/// Readies a parser for a language and the ranges to parse; no ranges stand for the whole text.
pub(crate) fn set_up(parser: &mut Parser, language: Language, ranges: &[Range]) -> bool {
    parser.reset();
    let is_known = parser.set_language(&language.grammar().language).is_ok();
    is_known && parser.set_included_ranges(ranges).is_ok()
}

/// What a host's tree was before, and where the text changed since then.
pub(crate) struct Before<'a> {
    pub(crate) tree: &'a Tree,
    /// In step with `tree`'s edits.
    pub(crate) layers: &'a [Layer],
    pub(crate) dirty: &'a [std::ops::Range<usize>],
}

/// Finds and parses the large injections of a host, going on from what was there before.
///
/// `prepare_all` also readies the languages of small injections, on the way over the whole text.
pub(crate) struct LayerParse<'a> {
    pub(crate) text: &'a Snapshot,
    pub(crate) parser: &'a mut Parser,
    pub(crate) prepare_all: bool,
}

impl LayerParse<'_> {
    /// The layers of `host`; `None` when `progress` stopped the work.
    pub(crate) fn layers(
        &mut self,
        host: &Tree,
        language: Language,
        before: Option<Before<'_>>,
        depth: usize,
        progress: Progress<'_>,
    ) -> Option<Vec<Layer>> {
        let grammar = language.grammar();
        if depth >= MOST_DEPTH || grammar.injections.is_none() {
            return Some(Vec::new());
        }
        // A pass over the whole text is needed once, to ready the languages of what is embedded.
        let is_first_pass = before.is_none() && self.prepare_all;
        if !grammar.has_layers && !is_first_pass {
            return Some(Vec::new());
        }
        let stale = stale_ranges(host, before.as_ref());
        let mut layers: Vec<Layer> = kept_layers(before.as_ref(), &stale);
        let kept = layers.len();
        for range in &stale {
            for injection in injections_in(grammar, host.root_node(), self.text, 0, range.clone()) {
                if !grammar.has_layers || injection.span.len() <= SMALL_BYTES {
                    if self.prepare_all {
                        injection.language.prepare();
                    }
                    continue;
                }
                let is_known = |layer: &Layer| layer.span.overlaps(injection.span);
                if layers.len() >= MOST_LAYERS || layers.iter().any(is_known) {
                    continue;
                }
                let old = before
                    .as_ref()
                    .and_then(|it| matching(it.layers, &injection));
                let dirty = before.as_ref().map_or(&[][..], |it| it.dirty);
                match self.layer(injection, old, dirty, depth, progress) {
                    Ok(layer) => layers.push(layer),
                    // It stays without colours.
                    Err(Halt::Stuck) => {}
                    Err(Halt::Stopped) => return None,
                }
            }
        }
        if layers.len() > kept {
            layers.sort_by_key(|layer| layer.span.start);
        }
        Some(layers)
    }

    fn layer(
        &mut self,
        injection: Injection,
        old: Option<&Layer>,
        dirty: &[std::ops::Range<usize>],
        depth: usize,
        progress: Progress<'_>,
    ) -> Result<Layer, Halt> {
        let language = injection.language;
        set_up(self.parser, language, &injection.ranges);
        let tree = parse_text(self.parser, self.text, old.map(|it| &it.tree), progress)?;
        let before = old.map(|it| Before {
            tree: &it.tree,
            layers: &it.layers,
            dirty,
        });
        let layers = self.layers(&tree, language, before, depth + 1, progress);
        let layers = layers.ok_or(Halt::Stopped)?;
        Ok(Layer {
            language,
            tree,
            span: injection.span,
            layers,
        })
    }
}

/// Where injections may have come, gone or changed: everywhere, when nothing is known.
fn stale_ranges(host: &Tree, before: Option<&Before<'_>>) -> Vec<std::ops::Range<usize>> {
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
fn kept_layers(before: Option<&Before<'_>>, stale: &[std::ops::Range<usize>]) -> Vec<Layer> {
    let Some(before) = before else {
        return Vec::new();
    };
    let is_stale = |layer: &Layer| {
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

fn matching<'a>(layers: &'a [Layer], injection: &Injection) -> Option<&'a Layer> {
    layers
        .iter()
        .find(|layer| layer.language == injection.language && layer.span.overlaps(injection.span))
}
