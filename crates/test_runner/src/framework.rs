//! Test runners.

/// A program that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TestFramework {
    /// `cargo test`.
    CargoTest,
    /// `cargo nextest`.
    Nextest,
    /// pytest, which also runs tests of `unittest`.
    Pytest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// `go test`.
    GoTest,
}

impl TestFramework {
    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::CargoTest => "cargo test",
            Self::Nextest => "cargo nextest",
            Self::Pytest => "pytest",
            Self::Jest => "Jest",
            Self::Vitest => "Vitest",
            Self::GoTest => "go test",
        }
    }
}
