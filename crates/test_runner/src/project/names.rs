//! Names of tests in the reports and the arguments of runners.

use std::path::{Component, Path};

use base::AbsPath;

use super::TestProject;
use crate::framework::TestFramework;
use crate::item::TestId;
use crate::outcome::{FailureLocation, ReportedTest};

/// A target of Cargo with the modules of a file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CargoModule {
    /// The arguments that select the target.
    pub(crate) target: Vec<String>,
    /// The name of the compiled program without hyphens.
    pub(crate) program: String,
    /// Names of the modules of the file, outermost first; empty for the root module of the crate.
    pub(crate) modules: Vec<String>,
}

impl TestProject {
    /// Returns the name under which the runner reports a test.
    pub(crate) fn reported(&self, id: &TestId) -> ReportedTest {
        let (suite, name) = match self.framework {
            TestFramework::CargoTest | TestFramework::Nextest => {
                let module = self.cargo_module(&id.file);
                let path = module.modules.iter().chain(&id.names);
                let path: Vec<&str> = path.map(String::as_str).collect();
                (module.program, path.join("::"))
            }
            TestFramework::Pytest => (String::new(), self.node_id(id)),
            TestFramework::Jest | TestFramework::Vitest => {
                (path_of(id.file.as_path()), id.names.join(" "))
            }
            TestFramework::GoTest => {
                let folder = id.file.parent().unwrap_or_else(|| self.folder.clone());
                (self.go_package(&folder), go_name(&id.names))
            }
        };
        ReportedTest { suite, name }
    }

    /// Returns the test or suite around a reported test, for reports that match no test of the text, such as those of
    /// parametrized tests and subtests. `None` if the name of the report has one part only.
    pub(crate) fn enclosing(&self, test: &ReportedTest) -> Option<ReportedTest> {
        let name = match self.framework {
            TestFramework::CargoTest | TestFramework::Nextest => test.name.rsplit_once("::")?.0,
            TestFramework::Pytest => test.name.split_once('[')?.0,
            TestFramework::GoTest => test.name.rsplit_once('/')?.0,
            TestFramework::Jest | TestFramework::Vitest => return None,
        };
        Some(ReportedTest {
            suite: test.suite.clone(),
            name: name.to_owned(),
        })
    }

    /// Returns the file of a failure of `test`.
    pub(crate) fn locate(&self, test: &ReportedTest, location: &FailureLocation) -> AbsPath {
        let folder = match self.framework {
            TestFramework::GoTest => {
                let rest = test.suite.strip_prefix(&self.name).unwrap_or_default();
                self.folder.join(rest.trim_start_matches('/'))
            }
            _ => self.base.clone(),
        };
        folder.join(&location.path)
    }

    /// Returns the path of a file relative to the folder, as the runner prints it; the whole path if it is elsewhere.
    pub(crate) fn relative(&self, file: &AbsPath) -> String {
        let relative = file.relative_to(&self.folder);
        path_of(relative.unwrap_or_else(|| file.as_path()))
    }

    /// Returns the node id of pytest: `tests/test_a.py::TestClass::test_x`.
    pub(crate) fn node_id(&self, id: &TestId) -> String {
        let mut node = self.relative(&id.file);
        for name in &id.names {
            node.push_str("::");
            node.push_str(name);
        }
        node
    }

    /// Returns the import path of a package of Go.
    pub(crate) fn go_package(&self, folder: &AbsPath) -> String {
        match self.relative(folder).as_str() {
            "" => self.name.clone(),
            relative => format!("{}/{relative}", self.name),
        }
    }

    /// Returns target and module of a Rust file, by the conventions of Cargo. Targets with paths of their own in the
    /// manifest are unknown.
    pub(crate) fn cargo_module(&self, file: &AbsPath) -> CargoModule {
        let relative = file.relative_to(&self.folder).unwrap_or(Path::new(""));
        let mut parts: Vec<String> = relative
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        if let Some(last) = parts.last_mut()
            && let Some(stem) = last.strip_suffix(".rs")
        {
            *last = stem.to_owned();
        }
        let own = self.name.replace('-', "_");
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["src", "lib"] => module(&["--lib"], &own, &[]),
            ["src", "main"] => module(&["--bins"], &own, &[]),
            ["src", "bin", name, rest @ ..] => module(&["--bin", *name], name, rest),
            ["src", rest @ ..] => module(self.targets.arguments(), &own, rest),
            ["tests", name, rest @ ..] => module(&["--test", *name], name, rest),
            ["examples", name, rest @ ..] => module(&["--example", *name], name, rest),
            ["benches", name, rest @ ..] => module(&["--bench", *name], name, rest),
            _ => module(&[], &own, &[]),
        }
    }
}

fn module(target: &[&str], program: &str, path: &[&str]) -> CargoModule {
    // `mod.rs` and the `main.rs` of a target's folder are the module of their folder.
    let path = match path {
        [rest @ .., "mod" | "main"] => rest,
        path => path,
    };
    CargoModule {
        target: target.iter().map(|word| (*word).to_owned()).collect(),
        program: program.replace('-', "_"),
        modules: path.iter().map(|word| (*word).to_owned()).collect(),
    }
}

/// Returns the name of a test of Go, in which subtests are rewritten as `go test` does.
pub(crate) fn go_name(names: &[String]) -> String {
    let names = names.iter().map(|name| rewritten(name));
    names.collect::<Vec<_>>().join("/")
}

/// Returns the name of a subtest as `go test` reports it: with `_` for blanks, and escapes for control characters.
fn rewritten(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for char in name.chars() {
        match char {
            char if char.is_whitespace() => text.push('_'),
            char if char.is_control() => text.push_str(&format!("\\x{:02x}", u32::from(char))),
            char => text.push(char),
        }
    }
    text
}

/// Returns a path with `/` between its components, as runners print it.
pub(crate) fn path_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
