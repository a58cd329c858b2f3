//! Small injections, parsed when somebody looks at them and kept by their content.
//!
//! Their trees are in coordinates of their own, from the start of the injection, so no edit
//! elsewhere touches them, and equal texts share one tree.
//! Invariant: what is kept is bounded; the least recently used half goes first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use text::Snapshot;
use tree_sitter::{Point, Range, Tree};

use crate::cursors::{give_parser, take_parser};
use crate::injection::Injection;
use crate::language::Language;
use crate::layers::set_up;
use crate::source::Pieces;

/// A generation holds at most so many trees; two generations are kept.
const MOST_TREES: usize = 1024;

/// Trees of small injections; shared by all snapshots of one text.
#[derive(Default)]
pub(crate) struct SmallLayers(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<Key, Arc<Tree>>,
    old: HashMap<Key, Arc<Tree>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    language: Language,
    text: Arc<[u8]>,
    /// Start and end of each range, from the start of the injection.
    ranges: Arc<[(usize, usize)]>,
}

impl SmallLayers {
    /// The tree of an injection, whose offsets count from `shift` in the host's coordinates.
    pub(crate) fn tree(
        &self,
        injection: &Injection,
        text: &Snapshot,
        shift: usize,
    ) -> Option<Arc<Tree>> {
        let start = injection.span.start.0;
        let content: Vec<u8> = Pieces::new(text, shift + start..shift + injection.span.end.0)
            .flatten()
            .copied()
            .collect();
        let ranges = injection.ranges.iter();
        let key = Key {
            language: injection.language,
            text: content.into(),
            ranges: ranges
                .map(|it| (it.start_byte - start, it.end_byte - start))
                .collect(),
        };
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = generations.find(&key) {
            return Some(tree);
        }
        let tree = Arc::new(parse(&key)?);
        generations.keep(key, tree.clone());
        Some(tree)
    }
}

impl Generations {
    fn find(&mut self, key: &Key) -> Option<Arc<Tree>> {
        if let Some(tree) = self.young.get(key) {
            return Some(tree.clone());
        }
        let (key, tree) = self.old.remove_entry(key)?;
        self.keep(key, tree.clone());
        Some(tree)
    }

    fn keep(&mut self, key: Key, tree: Arc<Tree>) {
        if self.young.len() >= MOST_TREES {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, tree);
    }
}

fn parse(key: &Key) -> Option<Tree> {
    let ranges: Vec<Range> = ranges_with_points(&key.text, &key.ranges);
    let mut parser = take_parser();
    let tree = set_up(&mut parser, key.language, &ranges).then(|| {
        let read = &mut |offset: usize, _: Point| key.text.get(offset..).unwrap_or_default();
        parser.parse_with_options(read, None, None)
    });
    give_parser(parser);
    tree.flatten()
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
