//! The tests as rows of a list.

use base::{LineFeeds, path_text, printable};

use super::{TestState, severity};
use crate::item::{TestId, TestItem, TestKind};
use crate::outcome::TestStatus;

/// Maximum number of rows.
const MAX_ROWS: usize = 20_000;

/// A row of the list: a file, a suite or a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRow {
    /// The file, suite or test.
    pub id: TestId,
    /// Number of the rows above within which it lies.
    pub depth: usize,
    /// The name for users, on one line.
    pub label: String,
    /// The kind; `Suite` for files.
    pub kind: TestKind,
    /// The state; `None` if it was not run.
    pub status: Option<TestStatus>,
    /// Whether the file changed since the result.
    pub is_stale: bool,
}

/// The rows that a list shows, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestFilter {
    /// Words that must all occur in the path, a suite's name or the test's name, ignoring case.
    pub text: String,
    /// Whether rows with failures come first.
    pub failed_first: bool,
}

/// Numbers of tests by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// All tests.
    pub total: usize,
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that the runner skipped.
    pub skipped: usize,
    /// Tests of the present run without a result yet.
    pub running: usize,
    /// Tests that did not run although they were to.
    pub not_run: usize,
}

impl TestCounts {
    /// Counts a test.
    fn add(&mut self, status: Option<TestStatus>) {
        self.total += 1;
        match status {
            Some(TestStatus::Passed) => self.passed += 1,
            Some(TestStatus::Failed) => self.failed += 1,
            Some(TestStatus::Skipped) => self.skipped += 1,
            Some(TestStatus::Running) => self.running += 1,
            Some(TestStatus::NotRun) => self.not_run += 1,
            None => {}
        }
    }
}

/// An item with those within it.
struct TestNode {
    row: TestRow,
    children: Vec<TestNode>,
}

impl TestState {
    /// Returns the numbers of tests by state.
    pub fn counts(&self) -> TestCounts {
        let mut counts = TestCounts::default();
        let items = self.files.values().flat_map(|it| &it.items);
        for item in items.filter(|it| it.kind != TestKind::Suite) {
            counts.add(self.status_of_test(&item.id));
        }
        counts
    }

    /// Returns the rows of a list, with the paths of files relative to `root`. Takes time proportional to the number of
    /// tests.
    pub fn rows(&self, root: &base::AbsPath, filter: &TestFilter) -> Vec<TestRow> {
        let words = filter.text.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut nodes: Vec<TestNode> = Vec::new();
        for tests in self.files.values() {
            let path = tests.file.relative_to(root).map(path_text);
            let label = path.unwrap_or_else(|| tests.file.printable());
            let mut items = tests.items.as_slice();
            let children = self.nodes(&mut items, 0, 1, &label.to_lowercase(), &words);
            if !children.is_empty() {
                let id = TestId::of_file(&tests.file);
                let row = row(id, 0, label, TestKind::Suite);
                nodes.push(summed(TestNode { row, children }));
            }
        }
        if filter.failed_first {
            sort_failed_first(&mut nodes);
        }
        let mut rows = Vec::new();
        flatten(nodes, &mut rows);
        rows
    }

    /// Takes the items within `enclosing` names from the front of `items`; omits those without the words.
    fn nodes(
        &self,
        items: &mut &[TestItem],
        enclosing: usize,
        depth: usize,
        searched: &str,
        words: &[&str],
    ) -> Vec<TestNode> {
        let mut nodes = Vec::new();
        while let Some((item, rest)) = items.split_first() {
            if item.id.names.len() <= enclosing {
                break;
            }
            *items = rest;
            let label = printable(&item.label, LineFeeds::Escape).into_owned();
            let searched = format!("{searched} {}", label.to_lowercase());
            let names = item.id.names.len();
            let children = self.nodes(items, names, depth + 1, &searched, words);
            let is_found =
                item.kind != TestKind::Suite && words.iter().all(|it| searched.contains(it));
            if !is_found && children.is_empty() {
                continue;
            }
            let mut row = row(item.id.clone(), depth, label, item.kind);
            if let Some(known) = self.results.get(&item.id) {
                row.status = Some(known.outcome.status);
                row.is_stale = known.is_stale;
            }
            nodes.push(summed(TestNode { row, children }));
        }
        nodes
    }
}

fn row(id: TestId, depth: usize, label: String, kind: TestKind) -> TestRow {
    TestRow {
        id,
        depth,
        label,
        kind,
        status: None,
        is_stale: false,
    }
}

/// Gives a suite the worst state within it.
fn summed(mut node: TestNode) -> TestNode {
    if node.row.kind == TestKind::Suite {
        let children = node.children.iter();
        let statuses = children.filter_map(|child| child.row.status);
        node.row.status = statuses.max_by_key(|status| severity(*status));
        node.row.is_stale = node.children.iter().any(|child| child.row.is_stale);
    }
    node
}

fn sort_failed_first(nodes: &mut [TestNode]) {
    nodes.sort_by_key(|node| node.row.status != Some(TestStatus::Failed));
    for node in nodes {
        sort_failed_first(&mut node.children);
    }
}

fn flatten(nodes: Vec<TestNode>, rows: &mut Vec<TestRow>) {
    for node in nodes {
        if rows.len() >= MAX_ROWS {
            return;
        }
        rows.push(node.row);
        flatten(node.children, rows);
    }
}
