//! The named parts of texts, remembered by content.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use base::{Row, Span};
use git::merge::{TreePath, is_binary};
use host::ContentHash;
use syntax::{Budget, OutlineItem, SyntaxTree};
use text::Snapshot;

/// Longer texts are not taken apart.
const MOST_BYTES: usize = 1 << 20;

/// What was worked out, and whether anybody asked for it this time.
type Remembered<K, V> = HashMap<K, (Arc<V>, bool)>;

/// Outlines of texts that were asked about.
#[derive(Default)]
pub(crate) struct Symbols {
    outlines: Remembered<(ContentHash, TreePath), Outline>,
    /// What each change of a text touches, by the text before and after.
    changed: Remembered<(ContentHash, ContentHash, TreePath), BTreeSet<String>>,
}

struct Outline {
    /// Rows of each named part, from 0, with the name and what it lies in: `impl Row > fmt`.
    parts: Vec<(Range<u32>, String)>,
}

impl Symbols {
    /// The innermost named part around some lines of a text.
    pub(crate) fn around(
        &mut self,
        path: &TreePath,
        bytes: &[u8],
        lines: Range<u32>,
    ) -> Option<String> {
        let outline = self.outline(path, bytes);
        outline.around(&lines).map(str::to_owned)
    }

    /// The named parts that one text has otherwise than another, by their names.
    pub(super) fn changed(
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
        let names = Arc::new(self.looked_at(path, before, after));
        self.changed.insert(key, (names.clone(), true));
        names
    }

    fn looked_at(&mut self, path: &TreePath, before: &[u8], after: &[u8]) -> BTreeSet<String> {
        if is_binary(before) || is_binary(after) {
            return BTreeSet::new();
        }
        let hunks = text::diff_lines(&lines(before), &lines(after));
        let (was, is) = (self.outline(path, before), self.outline(path, after));
        let mut names = BTreeSet::new();
        for hunk in hunks {
            let before = hunk.before.start.0..hunk.before.end.0;
            let after = hunk.after.start.0..hunk.after.end.0;
            names.extend(was.around(&before).map(str::to_owned));
            names.extend(is.around(&after).map(str::to_owned));
        }
        names
    }

    /// Outlines nobody asked for since the last time are let go.
    pub(super) fn forget_unused(&mut self) {
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
        let (Some(language), true) = (language, content.len() <= MOST_BYTES) else {
            return none;
        };
        let text = Snapshot::new(content);
        let mut tree = SyntaxTree::new(language);
        // Whatever the parser could not make sense of has no names.
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

    /// Lines that were only taken out lie where they were: between the line before and the one after.
    fn around(&self, lines: &Range<u32>) -> Option<&str> {
        let (first, last) = match lines.is_empty() {
            true => (lines.start.saturating_sub(1), lines.start),
            false => (lines.start, lines.end - 1),
        };
        let holds = |(rows, _): &&(Range<u32>, String)| rows.start <= first && last < rows.end;
        // Items come in text order, the outer before the inner.
        let whole = self.parts.iter().rfind(holds);
        let touched = || {
            let touches =
                |(rows, _): &&(Range<u32>, String)| rows.start <= last && first < rows.end;
            self.parts.iter().find(touches)
        };
        whole.or_else(touched).map(|(_, name)| name.as_str())
    }
}

fn rows(text: &Snapshot, span: Span) -> Range<u32> {
    let Row(first) = text.point_at(span.start).row;
    let Row(last) = text.point_at(span.end).row;
    first..last + 1
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}
