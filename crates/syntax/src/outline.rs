//! The outline of a text, kept for the document and updated where the text changed.
//!
//! Invariant: an updated outline equals one that is built from the same tree.
//! Invariant: an update visits the changed parts of the tree and the items around them, never the
//! whole text.
//! Start at `OutlineCache::outline`, which decides between building and updating.

mod cache;
mod definition;

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base::{Bias, ByteOffset, Revision, Span};
use text::{Change, PlacedMark, Snapshot, SpanMark, SpanSet};
use tree_sitter::{Node, StreamingIterator, Tree};

use crate::cursors::{matches, with_query_cursor};
use crate::outline_item::{OutlineItem, OutlineKind, sorted};
use crate::outline_query::{MatchedItem, OutlineQuery};
use crate::source::BytePieces;
pub(crate) use cache::OutlineCache;
use definition::DefinitionIndex;
pub use definition::{DefinedField, Definition, FieldPayload};

/// The outline of a text at one revision: its functions, types, headings and the like. Cheap to
/// clone.
#[derive(Clone)]
pub struct Outline {
    revision: Revision,
    /// Extents of the items: all nodes that their patterns captured.
    marks: SpanSet<OutlineMark>,
    definitions: DefinitionIndex,
    next_id: u64,
}

/// An item, relative to its extent.
#[derive(Clone, Debug)]
struct OutlineMark {
    id: u64,
    pattern: usize,
    kind: OutlineKind,
    name: Arc<str>,
    detail: Arc<str>,
    /// Bytes of the extent before and after the item.
    before: usize,
    after: usize,
    /// Bytes of the name, from the start of the extent.
    name_at: Range<usize>,
}

impl SpanMark for OutlineMark {
    type Rank = u64;
    // An update removes the marks in changed ranges, those of deleted text too.
    const STAYS_EMPTY: bool = true;

    fn rank(&self) -> u64 {
        self.id
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

/// The tree and the text that an outline is derived from.
pub(crate) struct OutlineSource<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) query: &'static OutlineQuery,
    pub(crate) text: &'a Snapshot,
    /// Revision whose offsets the tree has.
    pub(crate) revision: Revision,
    /// Revision whose structure the tree has.
    pub(crate) parsed: Option<Revision>,
    /// Returns the names of the parameters of the function at a span.
    pub(crate) parameters: &'a dyn Fn(Span) -> Vec<String>,
}

impl OutlineSource<'_> {
    /// Returns the items whose patterns start in a range, in any order, and possibly others.
    fn items_in(&self, range: Range<usize>) -> Vec<MatchedItem> {
        let text = self.text;
        let bytes = |node: Node<'_>| BytePieces::new(text, node.byte_range());
        let words = |span: Span| text.text(span).into_owned();
        let root = self.tree.root_node();
        with_query_cursor(range, |cursor| {
            let mut matches = matches(cursor, &self.query.query, root, bytes);
            let mut items = Vec::new();
            while let Some(one) = matches.next() {
                items.extend(self.query.item(one, root, text.len().0, &words));
            }
            items
        })
    }
}

impl Outline {
    /// Creates an outline without items.
    pub(crate) fn empty(revision: Revision) -> Self {
        Self {
            revision,
            marks: SpanSet::new(),
            definitions: DefinitionIndex::default(),
            next_id: 0,
        }
    }

    /// Builds the outline of a whole text.
    fn build(source: &OutlineSource<'_>) -> Self {
        let mut outline = Self::empty(source.revision);
        let items = source.items_in(0..source.text.len().0);
        outline.add(items, source);
        outline
    }

    /// Shifts the items for a change, without a new structure.
    fn follow(&mut self, change: &Change) {
        self.marks.map(change);
        self.revision = change.after;
    }

    /// Replaces the items in the ranges that changed. `changed` are sorted ranges of the new text;
    /// every node outside of them has kept its kind and its ancestors.
    fn replace(&mut self, changed: &[Range<usize>], source: &OutlineSource<'_>) {
        let touches = |range: &Range<usize>, span: Span| {
            span.start.0 <= range.end && range.start <= span.end.0
        };
        let mut added = Vec::new();
        for (ix, range) in changed.iter().enumerate() {
            let span = Span::new(ByteOffset(range.start), ByteOffset(range.end));
            let removed = self.marks.touching(span);
            self.marks.remove(&removed);
            for PlacedMark { mark, .. } in &removed {
                if let Some(name) = mark.defined_name() {
                    self.definitions.remove(&name, mark.id);
                }
            }
            // A query leaves out nodes that only touch its range.
            let around = range.start.saturating_sub(1)..range.end + 1;
            let found = source.items_in(around).into_iter();
            added.extend(found.filter(|found| {
                let is_known = |earlier: &Range<usize>| touches(earlier, found.extent);
                touches(range, found.extent) && !changed[..ix].iter().any(is_known)
            }));
        }
        self.add(added, source);
    }

    fn add(&mut self, items: Vec<MatchedItem>, source: &OutlineSource<'_>) {
        let mut added: Vec<PlacedMark<OutlineMark>> =
            items.into_iter().map(|item| self.placed(item)).collect();
        self.marks.insert(added.clone());
        added.retain(|placed| placed.mark.defined_name().is_some());
        added.sort_by_key(|placed| (placed.span.start, placed.mark.pattern));
        // Several patterns may match one name; the first one counts, as in `sorted`.
        let mut names = HashSet::new();
        added.retain(|placed| names.insert(placed.name_span()));
        let defined = added.iter().filter_map(|placed| {
            let name = placed.mark.defined_name()?;
            Some((name, placed.mark.id, self.definition_of(placed, source)))
        });
        let defined = defined.collect();
        self.definitions.insert(defined);
    }

    /// Returns the definition of an item that has one.
    fn definition_of(
        &self,
        placed: &PlacedMark<OutlineMark>,
        source: &OutlineSource<'_>,
    ) -> Definition {
        let item = placed.to_item();
        match item.kind {
            OutlineKind::Enum | OutlineKind::Struct => {
                Definition::of_type(&item, &self.items_within(item.span), source.text)
            }
            _ => Definition::of_function(item.kind, (source.parameters)(item.span)),
        }
    }

    fn placed(&mut self, matched: MatchedItem) -> PlacedMark<OutlineMark> {
        let MatchedItem {
            pattern,
            item,
            extent,
        } = matched;
        self.next_id += 1;
        let name = item.name_span;
        PlacedMark {
            span: extent,
            mark: OutlineMark {
                id: self.next_id,
                pattern,
                kind: item.kind,
                name: item.name.into(),
                detail: item.detail.into(),
                before: item.span.start - extent.start,
                after: extent.end - item.span.end,
                name_at: name.start - extent.start..name.end - extent.start,
            },
        }
    }

    /// Returns the revision of the text.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns all items, in text order. Takes time proportional to their number.
    pub fn items(&self) -> Vec<OutlineItem> {
        let marks = self.marks.from(0);
        sorted(marks.map(|it| (it.mark.pattern, it.to_item())).collect())
    }

    /// Returns the items that contain an offset or touch it, the outermost first. The time does not
    /// depend on the length of the text.
    pub fn around(&self, offset: ByteOffset) -> Vec<OutlineItem> {
        let marks = self.marks.touching(Span::at(offset));
        let items = marks.iter().map(|it| (it.mark.pattern, it.to_item()));
        let is_around = |item: &OutlineItem| item.span.start <= offset && offset <= item.span.end;
        sorted(items.filter(|(_, item)| is_around(item)).collect())
    }

    /// Returns the items within a span, in text order.
    fn items_within(&self, span: Span) -> Vec<OutlineItem> {
        let marks = self.marks.touching(span);
        let items = marks.iter().map(|it| (it.mark.pattern, it.to_item()));
        sorted(items.filter(|(_, item)| span.covers(item.span)).collect())
    }

    /// Returns the definition of the type or function `name`. Returns `None` if the text defines
    /// the name not at all or several times, or lets the type dereference to another. The time does
    /// not depend on the length of the text.
    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.only(name)
    }

    /// Returns whether the text defines a type or function of that name. The time does not depend
    /// on the length of the text.
    pub fn defines(&self, name: &str) -> bool {
        self.definitions.contains(name)
    }
}

impl fmt::Debug for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outline")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl OutlineMark {
    /// Returns the name of a type with members or of a function. An implementation of `Deref` gives
    /// its type the members of another one, so it counts as a second definition of that type.
    fn defined_name(&self) -> Option<Arc<str>> {
        use OutlineKind::{Enum, Function, Method, Struct};
        match self.kind {
            Enum | Struct | Function | Method => Some(self.name.clone()),
            _ => dereferencing(&self.name).map(Arc::from),
        }
    }
}

/// Returns the type for which an implementation of that name in the outline implements
/// dereferencing, without its parameters.
fn dereferencing(name: &str) -> Option<&str> {
    let (implemented, owner) = name.split_once(" for ")?;
    let owner = owner.trim();
    let end = owner.find(|ch: char| !(ch.is_alphanumeric() || ch == '_'));
    let owner = &owner[..end.unwrap_or(owner.len())];
    (implemented.contains("Deref") && !owner.is_empty()).then_some(owner)
}

/// A mark of an outline with the span of its extent.
trait PlacedItem {
    /// Returns the item, at depth 0.
    fn to_item(&self) -> OutlineItem;
    fn name_span(&self) -> Span;
}

impl PlacedItem for PlacedMark<OutlineMark> {
    fn to_item(&self) -> OutlineItem {
        let mark = &self.mark;
        let start = (self.span.start + mark.before).min(self.span.end);
        OutlineItem {
            depth: 0,
            name: mark.name.to_string(),
            kind: mark.kind,
            detail: mark.detail.to_string(),
            span: Span::new(start, (self.span.end - mark.after).max(start)),
            name_span: self.name_span(),
        }
    }

    fn name_span(&self) -> Span {
        // While a parse is pending, deleted text may have shortened the extent.
        let at = |offset: usize| (self.span.start + offset).min(self.span.end);
        Span::new(at(self.mark.name_at.start), at(self.mark.name_at.end))
    }
}

#[cfg(test)]
mod tests;
