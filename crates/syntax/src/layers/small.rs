//! Small injections, parsed on demand and cached by their content.
//!
//! Their trees use offsets from the start of the injection, so no edit elsewhere affects them, and
//! equal texts share one tree.
//! Invariant: the cache is bounded; the least recently used half is evicted first.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use text::Snapshot;
use tree_sitter::{ParseState, Point, Range, Tree};

use crate::cursors::{return_parser, take_parser};
use crate::highlight_kind::Highlight;
use crate::injection::Injection;
use crate::language::Language;
use crate::layers::set_up;
use crate::source::BytePieces;
use crate::stall_guard;

/// Maximum number of trees per generation; two generations are kept.
const MAX_TREES: usize = 1024;

/// A bounded cache of the trees of small injections, by language and content. All snapshots of one
/// text share it.
#[derive(Default)]
pub(crate) struct SmallLayers(Mutex<Generations>);

/// A small injection with its tree.
pub(crate) struct SmallLayer {
    pub(crate) tree: Tree,
    /// Highlights in its own offsets; computed on first use.
    pub(crate) highlights: OnceLock<Vec<Highlight>>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Key, Arc<SmallLayer>>,
    old: HashMap<Key, Arc<SmallLayer>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    language: Language,
    text: Arc<[u8]>,
    /// Start and end of each range, from the start of the injection.
    ranges: Arc<[(usize, usize)]>,
}

impl SmallLayers {
    /// Returns the parsed tree of an injection, from the cache or by parsing. Returns `None` if the
    /// injection cannot be parsed. The host's tree starts at the offset `shift` of the text.
    pub(crate) fn layer(
        &self,
        injection: &Injection,
        text: &Snapshot,
        shift: usize,
    ) -> Option<Arc<SmallLayer>> {
        let key = Key::of(injection, text, shift);
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layer) = generations.find(&key) {
            return Some(layer);
        }
        let layer = Arc::new(SmallLayer {
            tree: parse(&key)?,
            highlights: OnceLock::new(),
        });
        generations.insert(key, layer.clone());
        Some(layer)
    }
}

impl SmallLayers {
    /// Returns whether the cache has the tree of an injection. Never parses.
    pub(crate) fn is_parsed(&self, injection: &Injection, text: &Snapshot, shift: usize) -> bool {
        let key = Key::of(injection, text, shift);
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generations.find(&key).is_some()
    }
}

impl Key {
    fn of(injection: &Injection, text: &Snapshot, shift: usize) -> Self {
        let start = injection.span.start.0;
        let mut content = Vec::with_capacity(injection.span.len());
        for piece in BytePieces::new(text, shift + start..shift + injection.span.end.0) {
            content.extend_from_slice(piece);
        }
        let ranges = injection.ranges.iter();
        Self {
            language: injection.language,
            text: content.into(),
            ranges: ranges
                .map(|it| (it.start_byte - start, it.end_byte - start))
                .collect(),
        }
    }
}

impl Generations {
    /// Returns the layer of an injection and marks it as used; `None` if it is not in the cache.
    fn find(&mut self, key: &Key) -> Option<Arc<SmallLayer>> {
        if let Some(layer) = self.young.get(key) {
            return Some(layer.clone());
        }
        let (key, layer) = self.old.remove_entry(key)?;
        self.insert(key, layer.clone());
        Some(layer)
    }

    fn insert(&mut self, key: Key, layer: Arc<SmallLayer>) {
        if self.young.len() >= MAX_TREES {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, layer);
    }
}

/// Parses an injection. Returns `None` if its language or ranges cannot be set, or if the parser
/// makes no progress.
fn parse(key: &Key) -> Option<Tree> {
    let ranges: Vec<Range> = ranges_with_points(&key.text, &key.ranges);
    let mut parser = take_parser();
    if !set_up(&mut parser, key.language, &ranges) {
        return None;
    }
    let read = &mut |offset: usize, _: Point| key.text.get(offset..).unwrap_or_default();
    let on = &mut |_: &ParseState| ControlFlow::Continue(());
    let tree = stall_guard::parse(&mut parser, key.text.len(), read, None, on);
    return_parser(parser);
    tree.ok()
}

fn ranges_with_points(text: &[u8], ranges: &[(usize, usize)]) -> Vec<Range> {
    let mut at = 0;
    let mut point = Point { row: 0, column: 0 };
    let mut point_at = |offset: usize| {
        for &byte in text.get(at..offset).unwrap_or_default() {
            if byte == b'\n' {
                point.row += 1;
                point.column = 0;
            } else {
                point.column += 1;
            }
        }
        at = offset.max(at);
        point
    };
    ranges
        .iter()
        .map(|&(start, end)| {
            let start_point = point_at(start);
            Range {
                start_byte: start,
                end_byte: end,
                start_point,
                end_point: point_at(end),
            }
        })
        .collect()
}
