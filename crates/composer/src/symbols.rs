//! The symbols of texts, cached by content hash.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use base::{Row, Span};
use git::merge::{TreePath, is_binary};
use host::ContentHash;
use syntax::{Budget, OutlineItem, SyntaxTree};
use text::Snapshot;

/// Larger texts are not parsed, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Cached values, with a flag whether the present pass used them.
type UsageCache<K, V> = HashMap<K, (Arc<V>, bool)>;

/// Caches the outlines of texts.
#[derive(Default)]
pub(crate) struct SymbolCache {
    outlines: UsageCache<(ContentHash, TreePath), Outline>,
    /// The symbols that differ between two texts.
    changed: UsageCache<(ContentHash, ContentHash, TreePath), BTreeSet<String>>,
}

struct Outline {
    /// Rows of each symbol, from 0, with its qualified name: `impl Row > fmt`.
    parts: Vec<(Range<u32>, String)>,
}

impl SymbolCache {
    /// Returns the name of the innermost symbol around some lines of a text, counted from 0.
    /// Returns `None` if there is no such symbol, or if the language is unknown.
    pub(crate) fn enclosing(
        &mut self,
        path: &TreePath,
        bytes: &[u8],
        lines: Range<u32>,
    ) -> Option<String> {
        let outline = self.outline(path, bytes);
        outline.enclosing(&lines).map(str::to_owned)
    }

    /// Returns the names of the symbols that differ between two versions of a text, including added
    /// and removed symbols.
    pub(crate) fn changed_symbols(
        &mut self,
        path: &TreePath,
        before: &[u8],
        after: &[u8],
    ) -> Arc<BTreeSet<String>> {
        let key = (
            ContentHash::of(before),
            ContentHash::of(after),
            path.clone(),
        );
        if let Some((names, is_used)) = self.changed.get_mut(&key) {
            *is_used = true;
            return names.clone();
        }
        let names = Arc::new(self.diff_symbols(path, before, after));
        self.changed.insert(key, (names.clone(), true));
        names
    }

    fn diff_symbols(&mut self, path: &TreePath, before: &[u8], after: &[u8]) -> BTreeSet<String> {
        if is_binary(before) || is_binary(after) {
            return BTreeSet::new();
        }
        let hunks = text::diff_lines(&split_lines(before), &split_lines(after));
        let (was, is) = (self.outline(path, before), self.outline(path, after));
        let mut names = BTreeSet::new();
        for hunk in hunks {
            let before = hunk.before.start.0..hunk.before.end.0;
            let after = hunk.after.start.0..hunk.after.end.0;
            names.extend(was.enclosing(&before).map(str::to_owned));
            names.extend(is.enclosing(&after).map(str::to_owned));
        }
        names
    }

    /// Drops outlines that were not used since the last call.
    pub(crate) fn forget_unused(&mut self) {
        self.outlines
            .retain(|_, (_, is_used)| std::mem::take(is_used));
    }

    fn outline(&mut self, path: &TreePath, bytes: &[u8]) -> Arc<Outline> {
        let key = (ContentHash::of(bytes), path.clone());
        let known = self
            .outlines
            .entry(key)
            .or_insert_with(|| (Arc::new(Outline::of(path, bytes)), true));
        known.1 = true;
        known.0.clone()
    }
}

impl Outline {
    fn of(path: &TreePath, bytes: &[u8]) -> Self {
        let none = Self { parts: Vec::new() };
        let Ok(content) = std::str::from_utf8(bytes) else {
            return none;
        };
        let first_line = content.lines().next().unwrap_or_default();
        let language = syntax::language_for(&path.to_path(), first_line);
        let (Some(language), true) = (language, content.len() <= MAX_TEXT_BYTES) else {
            return none;
        };
        let text = Snapshot::new(content);
        let mut tree = SyntaxTree::new(language);
        // Text that the parser cannot make sense of has no symbols.
        drop(tree.parse(&text, &mut Budget::unlimited()));
        let items = tree.snapshot().outline(&text);
        let mut above: Vec<&OutlineItem> = Vec::new();
        let mut parts = Vec::new();
        for item in &items {
            above.truncate(item.depth);
            let mut name = String::new();
            for outer in &above {
                name.push_str(&outer.name);
                name.push_str(" > ");
            }
            name.push_str(&item.name);
            parts.push((rows(&text, item.span), name));
            above.push(item);
        }
        Self { parts }
    }

    /// The innermost symbol around the lines. A deletion lies between the line before it and the
    /// one behind.
    fn enclosing(&self, lines: &Range<u32>) -> Option<&str> {
        let (first, last) = if lines.is_empty() {
            (lines.start.saturating_sub(1), lines.start)
        } else {
            (lines.start, lines.end - 1)
        };
        let holds = |(rows, _): &&(Range<u32>, String)| rows.start <= first && last < rows.end;
        // Items are in text order, outer ones before inner ones.
        let whole = self.parts.iter().rfind(holds);
        let touched = || {
            let touches =
                |(rows, _): &&(Range<u32>, String)| rows.start <= last && first < rows.end;
            self.parts.iter().find(touches)
        };
        whole.or_else(touched).map(|(_, name)| name.as_str())
    }
}

/// Returns the rows from that of the span's start to that of its end, both included.
fn rows(text: &Snapshot, span: Span) -> Range<u32> {
    let Row(first) = text.point_at(span.start).row;
    let Row(last) = text.point_at(span.end).row;
    first..last + 1
}

fn split_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}
