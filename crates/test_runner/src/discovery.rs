//! Finds tests in the syntax tree of a text.
//!
//! Invariant: at most `MAX_ITEMS` items are found, at most `MAX_NODES` nodes are visited, and names are cut to `MAX_NAME`.
//! Limits: tests that macros or loops create are not found.
//! Start at `discover`; each language is in a module of its own.

mod go;
mod javascript;
mod literal;
mod python;
mod rust;

use std::ops::Range;
use std::path::Path;

use base::{AbsPath, Span};
use syntax::{PlainNode, PlainTree};
use text::Snapshot;

use crate::framework::TestFramework;
use crate::item::{TestId, TestItem, TestKind};

/// Maximum number of items in a text.
const MAX_ITEMS: usize = 5_000;
/// Maximum number of nodes visited in a text.
const MAX_NODES: usize = 400_000;
/// Maximum number of nested nodes.
const MAX_DEPTH: usize = 200;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 1_000;

/// Returns the tests of a text in text order, each suite before its tests; suites without tests are omitted. `root` is the
/// root of the text's syntax tree. Takes time proportional to the length of the text.
pub fn discover(
    root: PlainNode<'_>,
    text: &Snapshot,
    file: &AbsPath,
    framework: TestFramework,
) -> Vec<TestItem> {
    let mut search = TestSearch {
        text,
        file,
        framework,
        names: Vec::new(),
        items: Vec::new(),
        visited: 0,
    };
    match framework {
        TestFramework::CargoTest | TestFramework::Nextest => rust::visit(&mut search, root, 0),
        TestFramework::Pytest => python::visit(&mut search, root, 0),
        TestFramework::Jest | TestFramework::Vitest => javascript::visit(&mut search, root, 0),
        TestFramework::GoTest => go::visit(&mut search, root),
    }
    search.items
}

/// Parses a text and returns its tests; none if the language of the file is unknown.
pub fn discover_in_text(text: &str, file: &AbsPath, framework: TestFramework) -> Vec<TestItem> {
    let language = syntax::language_for(file.as_path(), "");
    let Some(tree) = language.and_then(|language| PlainTree::parse(language, text)) else {
        return Vec::new();
    };
    discover(tree.root(), &Snapshot::new(text), file, framework)
}

/// Returns whether a file may have tests, by its path relative to the project. Only these are read in the search for the
/// tests of a folder.
pub fn may_have_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let extension = path.extension().and_then(|extension| extension.to_str());
    let (Some(name), Some(extension)) = (name, extension) else {
        return false;
    };
    let stem = &name[..name.len() - extension.len() - 1];
    let is_in = |folder: &str| path.components().any(|it| it.as_os_str() == folder);
    match extension {
        "rs" => true,
        "go" => stem.ends_with("_test"),
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" => {
            stem.ends_with(".test") || stem.ends_with(".spec") || is_in("__tests__")
        }
        _ => false,
    }
}

/// The search for the tests of a text.
struct TestSearch<'a> {
    text: &'a Snapshot,
    file: &'a AbsPath,
    framework: TestFramework,
    /// Names of the suites around the present node.
    names: Vec<String>,
    items: Vec<TestItem>,
    visited: usize,
}

/// Name and spans of an item.
struct FoundName {
    name: String,
    /// The whole definition.
    span: Range<usize>,
    /// The name or title.
    name_span: Range<usize>,
}

impl TestSearch<'_> {
    /// Counts a node at a depth; returns whether the search goes on.
    fn enters(&mut self, depth: usize) -> bool {
        self.visited += 1;
        depth < MAX_DEPTH && self.visited <= MAX_NODES && self.items.len() < MAX_ITEMS
    }

    /// Returns the text of a node, cut to the maximum length of a name.
    fn text_of(&self, node: PlainNode<'_>) -> String {
        self.text_in(node.range())
    }

    fn text_in(&self, range: Range<usize>) -> String {
        let text = self.text.text(Span::from(range));
        text[..text.floor_char_boundary(MAX_NAME)].to_owned()
    }

    fn add(&mut self, found: FoundName, kind: TestKind) {
        let mut names = self.names.clone();
        names.push(found.name.clone());
        self.items.push(TestItem {
            id: TestId {
                file: self.file.clone(),
                names,
            },
            label: found.name,
            span: Span::from(found.span),
            name_span: Span::from(found.name_span),
            kind,
            runner: self.framework,
        });
    }

    /// Adds a suite with the items that `visit` finds; omits a suite without any.
    fn add_suite(&mut self, found: FoundName, visit: impl FnOnce(&mut Self)) {
        let name = found.name.clone();
        self.add(found, TestKind::Suite);
        let count = self.items.len();
        self.names.push(name);
        visit(self);
        self.names.pop();
        if self.items.len() == count {
            self.items.pop();
        }
    }
}

#[cfg(test)]
mod tests;
