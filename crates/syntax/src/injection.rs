//! Injections: text of one language inside another, with their ranges.
//!
//! Invariant: an injection's ranges are sorted, disjoint and not empty; its span covers them.

use base::{ByteOffset, Span, Work, count_work};
use text::Snapshot;
use tree_sitter::{Node, Query, QueryMatch, Range, StreamingIterator};

use crate::cursors::{matches, with_query_cursor};
use crate::detection::language_embedded;
use crate::grammar::{CaptureKind, Grammar, capture_kind};
use crate::language::Language;
use crate::source::BytePieces;

/// A span of text in an embedded language, such as a script in HTML. Offsets are those of the
/// host's tree.
#[derive(Debug)]
pub(crate) struct Injection {
    pub(crate) language: Language,
    pub(crate) ranges: Vec<Range>,
    pub(crate) span: Span,
}

/// Maximum length of a language name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Returns the injections that touch `range` of a host's tree, in text order.
///
/// `shift` is added to the tree's offsets to get those of `text`.
pub(crate) fn injections_in(
    grammar: &Grammar,
    root: Node<'_>,
    text: &Snapshot,
    shift: usize,
    range: std::ops::Range<usize>,
) -> Vec<Injection> {
    let Some(query) = &grammar.injections else {
        return Vec::new();
    };
    let bytes = |range: std::ops::Range<usize>| {
        let range = range.start + shift..range.end + shift;
        BytePieces::new(text, range)
            .flatten()
            .copied()
            .collect::<Vec<u8>>()
    };
    let mut found: Vec<Injection> = with_query_cursor(range, |cursor| {
        let provider = |node: Node<'_>| std::iter::once(bytes(node.byte_range()));
        let mut matches = matches(cursor, query, root, provider);
        let mut found = Vec::new();
        while let Some(one) = matches.next() {
            found.extend(injection_of(query, one, bytes));
        }
        found
    });
    found.sort_by_key(|injection| (injection.span.start, injection.span.end));
    found.dedup_by_key(|injection| injection.span);
    found
}

/// Returns the injection of a query match; `None` if its language is unknown.
///
/// `bytes` reads the host's text.
pub(crate) fn injection_of<B: AsRef<[u8]>>(
    query: &Query,
    one: &QueryMatch<'_, '_>,
    bytes: impl Fn(std::ops::Range<usize>) -> B,
) -> Option<Injection> {
    let properties = query.property_settings(one.pattern_index);
    let property = |key: &str| {
        let found = properties.iter().find(|property| &*property.key == key)?;
        Some(found.value.as_deref().unwrap_or_default())
    };
    let mut language = property("injection.language").and_then(language_embedded);
    let mut ranges = Vec::new();
    for capture in one.captures {
        let name = query.capture_names()[capture.index as usize];
        match capture_kind(name) {
            Some(CaptureKind::InjectionLanguage) if language.is_none() => {
                let range = capture.node.byte_range();
                let named = bytes(range.start..range.end.min(range.start + MAX_NAME_BYTES));
                language = std::str::from_utf8(named.as_ref())
                    .ok()
                    .and_then(language_embedded);
            }
            Some(CaptureKind::InjectionContent) => match property("injection.children") {
                Some(kind) => child_ranges(capture.node, kind, &mut ranges),
                None if property("injection.include-children").is_some() => {
                    ranges.push(capture.node.range());
                }
                None => ranges_without_children(capture.node, &mut ranges),
            },
            _ => {}
        }
    }
    ranges.retain(|range| range.start_byte < range.end_byte);
    let (first, last) = (ranges.first()?, ranges.last()?);
    let span = Span::new(ByteOffset(first.start_byte), ByteOffset(last.end_byte));
    Some(Injection {
        language: language?,
        ranges,
        span,
    })
}

/// The ranges of the children of one kind.
fn child_ranges(node: Node<'_>, kind: &str, ranges: &mut Vec<Range>) {
    count_work(Work::TreeSteps, node.child_count());
    let mut cursor = node.walk();
    ranges.extend(
        node.children(&mut cursor)
            .filter(|child| child.kind() == kind)
            .map(|child| child.range()),
    );
}

/// Collects the ranges of a node outside its named children.
fn ranges_without_children(node: Node<'_>, ranges: &mut Vec<Range>) {
    count_work(Work::TreeSteps, node.named_child_count());
    let mut rest = node.range();
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let child = child.range();
        ranges.push(Range {
            end_byte: child.start_byte,
            end_point: child.start_point,
            ..rest
        });
        rest.start_byte = child.end_byte;
        rest.start_point = child.end_point;
    }
    ranges.push(rest);
}
