//! The tests of a folder with their latest results.
//!
//! Invariant: a test of an unchanged name keeps its result when its file is read again.
//! Start at `TestState::set_file`, `begin` and `apply`; `rows` lists the tests for a view.

mod rows;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::{AbsPath, Span};

use crate::command::TestTarget;
use crate::item::{TestId, TestItem, TestKind};
use crate::outcome::{ReportedTest, TestOutcome, TestReport, TestStatus};
use crate::project::{TestProject, is_expansion};

pub use rows::{TestCounts, TestFilter, TestRow};

/// Maximum number of inputs of a parameterized test whose results are kept.
const MAX_CASES: usize = 1_000;
/// Maximum number of enclosing names that are tried for a report without an item.
const MAX_ENCLOSING: usize = 16;

/// The tests of a file.
#[derive(Clone, Debug)]
pub struct FileTests {
    /// The file.
    pub file: AbsPath,
    /// The project that runs them.
    pub project: Arc<TestProject>,
    /// The tests in text order, each suite before its tests.
    pub items: Vec<TestItem>,
}

/// The failure of a test at a known place.
#[derive(Clone, Copy, Debug)]
pub struct TestFailure<'a> {
    /// The test.
    pub id: &'a TestId,
    /// The file.
    pub file: &'a AbsPath,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// The message; may be empty.
    pub message: &'a str,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestRunEnd {
    /// The runner exited with this code.
    Exited(i32),
    /// A signal ended the runner.
    Signalled(i32),
    /// The user stopped the run.
    Stopped,
    /// The runner could not start, for this reason.
    NotStarted(String),
}

/// The tests of a folder with their latest results.
#[derive(Default)]
pub struct TestState {
    files: BTreeMap<AbsPath, FileTests>,
    results: HashMap<TestId, KnownResult>,
    /// The tests by the names in reports.
    reported: HashMap<String, Vec<TestId>>,
}

struct KnownResult {
    outcome: TestOutcome,
    /// File and line of the failure.
    place: Option<(AbsPath, u32, Option<u32>)>,
    /// Whether the file changed since.
    is_stale: bool,
    /// The results of this run by the names in reports: several for a parameterized test.
    cases: BTreeMap<ReportedTest, TestStatus>,
}

impl KnownResult {
    fn new(status: TestStatus) -> Self {
        Self {
            outcome: TestOutcome::new(status),
            place: None,
            is_stale: false,
            cases: BTreeMap::new(),
        }
    }
}

impl TestState {
    /// Replaces the tests of a file; removes the file if it has none.
    pub fn set_file(&mut self, tests: FileTests) {
        self.remove_file(&tests.file);
        if tests.items.is_empty() {
            return;
        }
        for item in &tests.items {
            let name = tests.project.reported(&item.id).name;
            let ids = self.reported.entry(name).or_default();
            if !ids.contains(&item.id) {
                ids.push(item.id.clone());
            }
        }
        self.files.insert(tests.file.clone(), tests);
    }

    /// Removes the tests of a file; their results are kept for the case that it returns.
    pub fn remove_file(&mut self, file: &AbsPath) {
        let Some(tests) = self.files.remove(file) else {
            return;
        };
        for item in &tests.items {
            let name = tests.project.reported(&item.id).name;
            if let Some(ids) = self.reported.get_mut(&name) {
                ids.retain(|id| *id != item.id);
                if ids.is_empty() {
                    self.reported.remove(&name);
                }
            }
        }
    }

    /// Returns the files with tests, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &FileTests> {
        self.files.values()
    }

    /// Returns the tests of a file.
    pub fn file(&self, file: &AbsPath) -> Option<&FileTests> {
        self.files.get(file)
    }

    /// Marks the results of a file as stale, because its text changed. Returns whether any result became stale.
    pub fn mark_stale(&mut self, file: &AbsPath) -> bool {
        let mut has_changed = false;
        for item in self.files.get(file).into_iter().flat_map(|it| &it.items) {
            if let Some(result) = self.results.get_mut(&item.id)
                && !result.is_stale
                && result.outcome.status != TestStatus::Running
            {
                result.is_stale = true;
                has_changed = true;
            }
        }
        has_changed
    }

    /// Returns the innermost test or suite that touches a span of a file's text, such as the row of a caret.
    pub fn touching(&self, file: &AbsPath, span: Span) -> Option<&TestItem> {
        let items = &self.files.get(file)?.items;
        let touching = items
            .iter()
            .filter(|it| it.span.start <= span.end && span.start <= it.span.end);
        touching.min_by_key(|it| it.span.len())
    }

    /// Returns an item; `None` for files and unknown ids.
    pub fn item(&self, id: &TestId) -> Option<&TestItem> {
        let items = &self.files.get(&id.file)?.items;
        items.iter().find(|it| it.id == *id)
    }

    /// Returns the target that runs a test, a suite or a file.
    pub fn target(&self, id: &TestId) -> TestTarget {
        TestTarget {
            id: id.clone(),
            kind: self.item(id).map_or(TestKind::Suite, |item| item.kind),
        }
    }

    /// Returns the tests within a test, suite or file, itself included.
    pub fn tests_within(&self, id: &TestId) -> Vec<TestId> {
        let items = self.files.get(&id.file).map(|it| it.items.as_slice());
        let items = items.unwrap_or_default().iter();
        let tests = items.filter(|it| it.kind != TestKind::Suite && it.id.is_within(id));
        tests.map(|it| it.id.clone()).collect()
    }

    /// Returns all tests with failed results, in the order of files and texts.
    pub fn failed(&self) -> Vec<TestId> {
        let items = self.files.values().flat_map(|it| &it.items);
        let failed = items.filter(|it| {
            it.kind != TestKind::Suite && self.status_of_test(&it.id) == Some(TestStatus::Failed)
        });
        failed.map(|it| it.id.clone()).collect()
    }

    /// Notes that a run of these tests began.
    pub fn begin(&mut self, tests: &[TestId]) {
        for id in tests {
            let running = KnownResult::new(TestStatus::Running);
            self.results.insert(id.clone(), running);
        }
    }

    /// Takes the report of a run. Returns the file whose tests it concerns; `None` if the test is unknown.
    pub fn apply(&mut self, project: &TestProject, report: TestReport) -> Option<AbsPath> {
        let id = self.test_of(project, &report.test)?;
        let place = report.outcome.location.as_ref().map(|location| {
            let file = project.locate(&report.test, location);
            (file, location.line, location.column)
        });
        let file = id.file.clone();
        let known = self
            .results
            .entry(id)
            .or_insert_with(|| KnownResult::new(TestStatus::Running));
        if known.cases.len() < MAX_CASES || known.cases.contains_key(&report.test) {
            known
                .cases
                .insert(report.test.clone(), report.outcome.status);
        }
        known.is_stale = false;
        merge(known, report.outcome, place);
        Some(file)
    }

    /// Notes the end of a run of these tests: those without a result did not run, for the reason of the end. `tail` are the
    /// last lines of the output.
    pub fn finish(&mut self, tests: &[TestId], end: &TestRunEnd, tail: &str) {
        let reason = reason(end, tail);
        for id in tests {
            if let Some(known) = self.results.get_mut(id)
                && known.outcome.status == TestStatus::Running
            {
                known.outcome.status = TestStatus::NotRun;
                known.outcome.set_message(&reason);
            }
        }
    }

    /// Returns the latest result of a test; `None` for suites and files.
    pub fn outcome(&self, id: &TestId) -> Option<&TestOutcome> {
        Some(&self.results.get(id)?.outcome)
    }

    /// Returns the failed tests with a known place, in the order of files and texts.
    pub fn failures(&self) -> impl Iterator<Item = TestFailure<'_>> {
        let items = self.files.values().flat_map(|it| &it.items);
        items.filter_map(|item| {
            let known = self.results.get(&item.id)?;
            let (file, line, column) = known.place.as_ref()?;
            let is_failed = known.outcome.status == TestStatus::Failed;
            is_failed.then_some(TestFailure {
                id: &item.id,
                file,
                line: *line,
                column: *column,
                message: &known.outcome.message,
            })
        })
    }

    /// Returns the items of a file with their states; that of a suite is the worst of those within. Takes time proportional
    /// to the number of items.
    pub fn statuses(&self, file: &AbsPath) -> Vec<(&TestItem, Option<TestStatus>)> {
        let items = self.files.get(file).map(|it| it.items.as_slice());
        let items = items.unwrap_or_default();
        let mut statuses: Vec<_> = items.iter().map(|it| self.status_of_test(&it.id)).collect();
        // The items around each one, the outermost first.
        let mut around: Vec<usize> = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(items.len());
        for (ix, item) in items.iter().enumerate() {
            around.retain(|outer| items[*outer].id.names.len() < item.id.names.len());
            parents.push(around.last().copied());
            around.push(ix);
        }
        for (ix, parent) in parents.iter().enumerate().rev() {
            if let Some(parent) = parent.filter(|it| items[*it].kind == TestKind::Suite) {
                let worst = [statuses[parent], statuses[ix]].into_iter().flatten();
                statuses[parent] = worst.max_by_key(|status| severity(*status));
            }
        }
        items.iter().zip(statuses).collect()
    }

    /// Returns the state of a test, suite or file: the worst of those within. `None` if none of them was run.
    #[cfg(test)]
    fn status(&self, id: &TestId) -> Option<TestStatus> {
        let items = &self.files.get(&id.file)?.items;
        let within = items.iter().filter(|it| it.id.is_within(id));
        let statuses = within.filter_map(|it| self.status_of_test(&it.id));
        statuses.max_by_key(|status| severity(*status))
    }

    fn status_of_test(&self, id: &TestId) -> Option<TestStatus> {
        Some(self.results.get(id)?.outcome.status)
    }

    /// Returns the test that a report of a project is about.
    fn test_of(&self, project: &TestProject, test: &ReportedTest) -> Option<TestId> {
        if let Some(id) = self.test_named(project, test) {
            return Some(id);
        }
        let mut enclosing = test.clone();
        for _ in 0..MAX_ENCLOSING {
            enclosing = match project.enclosing(&enclosing) {
                Some(enclosing) => enclosing,
                None => break,
            };
            if let Some(id) = self.test_named(project, &enclosing) {
                return Some(id);
            }
        }
        self.test_with_title(project, test)
    }

    /// Returns the test with a name; of several ones, that of the same program, package or file.
    fn test_named(&self, project: &TestProject, test: &ReportedTest) -> Option<TestId> {
        let ids = self.reported.get(&test.name)?;
        let mut candidates = ids.iter().filter(|id| {
            let owner = self.files.get(&id.file);
            owner.is_some_and(|it| it.project.base == project.base)
                && self.item(id).is_some_and(|it| it.kind != TestKind::Suite)
        });
        let is_same = |id: &&TestId| {
            let owner = self.files.get(&id.file);
            owner.is_some_and(|it| it.project.reported(id).suite == test.suite)
        };
        let same = candidates.clone().find(is_same);
        let only = || {
            let first = candidates.next()?;
            candidates.next().is_none().then_some(first)
        };
        // A target with a name of its own in the manifest is unknown, so the only test with the name counts.
        same.or_else(only).cloned()
    }

    /// Returns the test whose title has placeholders that expand to a name.
    fn test_with_title(&self, project: &TestProject, test: &ReportedTest) -> Option<TestId> {
        let files = self
            .files
            .values()
            .filter(|it| it.project.base == project.base);
        let mut items = files.flat_map(|it| it.items.iter().map(move |item| (&it.project, item)));
        let found = items.find(|(owner, item)| {
            if item.kind != TestKind::Parameterized {
                return false;
            }
            let own = owner.reported(&item.id);
            own.suite == test.suite && is_expansion(&own.name, &test.name)
        });
        found.map(|(_, item)| item.id.clone())
    }
}

/// Puts a report into the known result. A failure of one input is the result of the whole test, and a message that came
/// before stays.
fn merge(
    known: &mut KnownResult,
    mut outcome: TestOutcome,
    place: Option<(AbsPath, u32, Option<u32>)>,
) {
    let statuses = known.cases.values().copied();
    let worst = statuses.max_by_key(|status| severity(*status));
    if worst.is_some_and(|worst| worst != outcome.status) {
        return;
    }
    let before = &mut known.outcome;
    let is_same = before.status == outcome.status;
    if is_same && outcome.duration.is_none() {
        outcome.duration = before.duration;
    }
    if is_same && outcome.message.is_empty() && !before.message.is_empty() {
        before.duration = outcome.duration;
    } else {
        known.outcome = outcome;
        known.place = place;
    }
}

/// Returns the rank of a state: that of a suite is the one with the highest rank within it.
fn severity(status: TestStatus) -> u8 {
    match status {
        TestStatus::Skipped => 0,
        TestStatus::Passed => 1,
        TestStatus::NotRun => 2,
        TestStatus::Running => 3,
        TestStatus::Failed => 4,
    }
}

fn reason(end: &TestRunEnd, tail: &str) -> String {
    let sentence = match end {
        TestRunEnd::Exited(0) => "the runner did not report this test".to_owned(),
        TestRunEnd::Exited(code) => {
            format!("the runner ended with exit code {code} before it reported this test")
        }
        TestRunEnd::Signalled(signal) => {
            format!("signal {signal} ended the runner before it reported this test")
        }
        TestRunEnd::Stopped => return "the run was stopped".to_owned(),
        TestRunEnd::NotStarted(reason) => return reason.clone(),
    };
    if tail.is_empty() {
        sentence
    } else {
        format!("{sentence}\n{tail}")
    }
}

#[cfg(test)]
mod tests;
