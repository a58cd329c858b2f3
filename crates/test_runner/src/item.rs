//! Tests in a text.

use base::{AbsPath, Span};

use crate::framework::TestFramework;

/// Identifies a test, a suite or a file with tests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestId {
    /// The file.
    pub file: AbsPath,
    /// Names of the suites in the file from the outermost, then that of the test. Empty for the file itself.
    pub names: Vec<String>,
}

/// A test or a suite in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// File and names.
    pub id: TestId,
    /// The name for users.
    pub label: String,
    /// Span of the definition, with attributes and decorators.
    pub span: Span,
    /// Span of the name or title.
    pub name_span: Span,
    /// Whether it is a test or contains tests.
    pub kind: TestKind,
    /// The program that runs it.
    pub runner: TestFramework,
}

/// Kind of a test item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TestKind {
    /// A file, a module, a class or a block with tests.
    Suite,
    /// A test.
    Test,
    /// A test that runs with several inputs, reported under names that extend its own.
    Parameterized,
}

impl TestId {
    /// Returns the id of a file.
    pub fn of_file(file: &AbsPath) -> Self {
        Self {
            file: file.clone(),
            names: Vec::new(),
        }
    }

    /// Returns whether it is `other` or lies within it.
    pub fn is_within(&self, other: &TestId) -> bool {
        self.file == other.file && self.names.starts_with(&other.names)
    }
}
