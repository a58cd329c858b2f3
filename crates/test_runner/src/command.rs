//! Commands that run tests.
//!
//! Invariant: names of tests reach a runner as arguments of their own, escaped where it reads them as patterns. Start at
//! `TestProject::command`.

mod patterns;

use std::collections::BTreeSet;

use base::AbsPath;

use self::patterns::{go_quoted, javascript_quoted, nextest_quoted};
use crate::framework::TestFramework;
use crate::item::{TestId, TestKind};
use crate::project::TestProject;

/// Maximum number of tests that a command names; beyond it, all tests of the project run.
const MAX_NAMED: usize = 500;

/// A program that runs tests, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCommand {
    /// Name or path of the program.
    pub program: String,
    /// The arguments, as the program receives them.
    pub arguments: Vec<String>,
    /// The folder in which it runs.
    pub folder: AbsPath,
}

/// A test, suite or file to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestTarget {
    /// The test, suite or file.
    pub id: TestId,
    /// Its kind; `Suite` for files.
    pub kind: TestKind,
}

impl TestProject {
    /// Returns the command that runs the targets, which must belong to the project; all tests of the project if there are
    /// none. The command may run more tests, where the runner cannot select so exactly.
    pub fn command(&self, targets: &[TestTarget]) -> TestCommand {
        let named = targets.len() <= MAX_NAMED;
        let targets = if named { targets } else { &[] };
        let (folder, arguments) = match self.framework {
            TestFramework::CargoTest => self.cargo_arguments(targets),
            TestFramework::Nextest => self.nextest_arguments(targets),
            TestFramework::Pytest => (&self.folder, self.pytest_arguments(targets)),
            TestFramework::Jest => (&self.folder, self.jest_arguments(targets)),
            TestFramework::Vitest => (&self.folder, self.vitest_arguments(targets)),
            TestFramework::GoTest => (&self.folder, self.go_arguments(targets)),
        };
        let mut words = self.launcher.iter().cloned();
        TestCommand {
            program: words.next().unwrap_or_default(),
            arguments: words.chain(arguments).collect(),
            folder: folder.clone(),
        }
    }

    fn cargo_arguments(&self, targets: &[TestTarget]) -> (&AbsPath, Vec<String>) {
        let mut arguments = words(&["test", "--no-fail-fast"]);
        if targets.is_empty() {
            arguments.push("--workspace".to_owned());
            return (&self.base, arguments);
        }
        arguments.extend(self.cargo_targets(targets));
        // Without `--exact`, a name selects all tests that contain it.
        let is_exact = targets.iter().all(|it| it.kind == TestKind::Test);
        let names: Vec<String> = targets.iter().map(|it| self.path_of_target(it)).collect();
        // The root of a target is its file, with all tests below.
        if names.iter().all(|name| !name.is_empty()) {
            arguments.push("--".to_owned());
            arguments.extend(is_exact.then(|| "--exact".to_owned()));
            arguments.extend(names);
        }
        (&self.folder, arguments)
    }

    fn nextest_arguments(&self, targets: &[TestTarget]) -> (&AbsPath, Vec<String>) {
        let mut arguments = words(&["nextest", "run", "--no-fail-fast", "--color=never"]);
        if targets.is_empty() {
            arguments.push("--workspace".to_owned());
            return (&self.base, arguments);
        }
        arguments.extend(self.cargo_targets(targets));
        let terms = targets.iter().map(|target| {
            let path = nextest_quoted(&self.path_of_target(target));
            match target.kind {
                TestKind::Test => format!("test(={path})"),
                TestKind::Suite | TestKind::Parameterized => format!("test({path})"),
            }
        });
        let is_whole = targets.iter().any(|it| self.path_of_target(it).is_empty());
        if !is_whole {
            arguments.push("-E".to_owned());
            arguments.push(terms.collect::<Vec<_>>().join(" | "));
        }
        (&self.folder, arguments)
    }

    /// Returns the arguments that select the targets of Cargo, each once; none if one of them is unknown.
    fn cargo_targets(&self, targets: &[TestTarget]) -> Vec<String> {
        let mut selected: Vec<Vec<String>> = Vec::new();
        for target in targets {
            let words = self.cargo_module(&target.id.file).target;
            if words.is_empty() {
                return Vec::new();
            }
            if !selected.contains(&words) {
                selected.push(words);
            }
        }
        let mut arguments = selected.concat();
        let flags = ["--lib", "--bins"];
        for flag in flags {
            let mut is_first = true;
            arguments.retain(|word| {
                let is_repeated = word == flag && !is_first;
                is_first &= word != flag;
                !is_repeated
            });
        }
        arguments
    }

    /// Returns the path of a test; that of a suite ends with `::`, and that of the root of a program is empty.
    fn path_of_target(&self, target: &TestTarget) -> String {
        let path = self.reported(&target.id).name;
        match target.kind {
            TestKind::Suite if !path.is_empty() => path + "::",
            _ => path,
        }
    }

    fn pytest_arguments(&self, targets: &[TestTarget]) -> Vec<String> {
        let mut arguments = words(&["-v", "--tb=short", "--color=no"]);
        arguments.extend(targets.iter().map(|target| {
            let node = self.node_id(&target.id);
            // A file whose name begins with a hyphen is no option.
            if node.starts_with('-') {
                format!("./{node}")
            } else {
                node
            }
        }));
        arguments
    }

    fn jest_arguments(&self, targets: &[TestTarget]) -> Vec<String> {
        let mut arguments = words(&["--json", "--testLocationInResults"]);
        arguments.extend(javascript_pattern(targets));
        if !targets.is_empty() {
            arguments.push("--runTestsByPath".to_owned());
        }
        arguments.extend(files_of(targets).map(absolute));
        arguments
    }

    fn vitest_arguments(&self, targets: &[TestTarget]) -> Vec<String> {
        let mut arguments = words(&["run", "--reporter=json"]);
        arguments.extend(javascript_pattern(targets));
        // A file is selected by a part of its path; the leading `/` keeps `a.test.ts` from selecting `ba.test.ts`.
        arguments.extend(files_of(targets).map(|file| format!("/{}", self.relative(&file))));
        arguments
    }

    fn go_arguments(&self, targets: &[TestTarget]) -> Vec<String> {
        let mut arguments = words(&["test", "-json"]);
        if targets.is_empty() {
            arguments.push("./...".to_owned());
            return arguments;
        }
        if targets.iter().all(|it| !it.id.names.is_empty()) {
            arguments.push(format!("-run={}", go_pattern(targets)));
        }
        let folders: BTreeSet<String> = files_of(targets)
            .filter_map(|file| file.parent())
            .map(|folder| match self.relative(&folder).as_str() {
                "" => ".".to_owned(),
                relative => format!("./{relative}"),
            })
            .collect();
        arguments.extend(folders);
        arguments
    }
}

impl TestProject {
    /// Returns the command that runs the tests in a folder of the project; with a name, those whose names contain it. The
    /// command may run more tests, where the runner cannot select so exactly.
    pub fn folder_command(&self, folder: &AbsPath, name: Option<&str>) -> TestCommand {
        let relative = self.relative(folder);
        let inner = (*folder != self.folder).then_some(relative.as_str());
        let inner = inner.filter(|_| folder.is_within(&self.folder));
        let mut command = self.command(&[]);
        let arguments = &mut command.arguments;
        match self.framework {
            TestFramework::CargoTest | TestFramework::Nextest => {
                // A folder within a workspace means its package.
                if !self.base.is_within(folder) {
                    arguments.retain(|word| word != "--workspace");
                    command.folder = self.folder.clone();
                }
                match (name, self.framework) {
                    (None, _) => {}
                    (Some(name), TestFramework::Nextest) => {
                        let expression = format!("test({})", nextest_quoted(name));
                        arguments.extend(["-E".to_owned(), expression]);
                    }
                    (Some(name), _) => arguments.extend(["--".to_owned(), name.to_owned()]),
                }
            }
            TestFramework::Pytest => {
                let keywords = name.map(patterns::pytest_keywords);
                let keywords = keywords.filter(|keywords| !keywords.is_empty());
                arguments.extend(keywords.map(|keywords| format!("-k={keywords}")));
                arguments.extend(inner.map(|inner| format!("./{inner}")));
            }
            TestFramework::Jest | TestFramework::Vitest => {
                let pattern = name.map(javascript_quoted);
                arguments.extend(pattern.map(|it| format!("--testNamePattern={it}")));
                let inner = inner.map(|inner| match self.framework {
                    TestFramework::Jest => format!("/{}/", javascript_quoted(inner)),
                    _ => format!("/{inner}/"),
                });
                arguments.extend(inner);
            }
            TestFramework::GoTest => {
                arguments.retain(|word| word != "./...");
                arguments.extend(name.map(|name| format!("-run={}", go_quoted(name))));
                arguments.push(match inner {
                    Some(inner) => format!("./{inner}/..."),
                    None => "./...".to_owned(),
                });
            }
        }
        command
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns the files of targets, each once.
fn files_of(targets: &[TestTarget]) -> impl Iterator<Item = AbsPath> {
    let files: BTreeSet<AbsPath> = targets.iter().map(|it| it.id.file.clone()).collect();
    files.into_iter()
}

fn absolute(file: AbsPath) -> String {
    file.as_path().to_string_lossy().into_owned()
}

/// Returns the argument of Jest and Vitest that selects tests by their full names; `None` if a whole file is among the
/// targets.
fn javascript_pattern(targets: &[TestTarget]) -> Option<String> {
    if targets.iter().any(|it| it.id.names.is_empty()) {
        return None;
    }
    let names = targets.iter().map(|target| {
        let name = target.id.names.join(" ");
        match target.kind {
            TestKind::Suite => format!("{} .*", javascript_quoted(&name)),
            TestKind::Test => javascript_quoted(&name),
            TestKind::Parameterized => patterns::title_pattern(&name),
        }
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("--testNamePattern=^({})$", names.join("|")))
}

/// Returns the pattern of `go test` for tests. It matches the parts of names one by one, so of tests with different parents
/// it selects the parents.
fn go_pattern(targets: &[TestTarget]) -> String {
    let split = |target: &TestTarget| -> Vec<String> {
        let name = crate::project::go_name(&target.id.names);
        name.split('/').map(str::to_owned).collect()
    };
    let paths: Vec<Vec<String>> = targets.iter().map(split).collect();
    let depth = paths.iter().map(Vec::len).min().unwrap_or(1);
    let parent = &paths[0][..depth - 1];
    let is_shared = paths
        .iter()
        .all(|path| path.len() == depth && path.starts_with(parent));
    let (parent, depth) = if is_shared {
        (parent, depth)
    } else {
        (&[][..], 1)
    };
    let mut parts: Vec<String> = parent
        .iter()
        .map(|part| format!("^{}$", go_quoted(part)))
        .collect();
    let last: BTreeSet<String> = paths
        .iter()
        .map(|path| go_quoted(&path[depth - 1]))
        .collect();
    let last = Vec::from_iter(last);
    parts.push(match last.as_slice() {
        [one] => format!("^{one}$"),
        several => format!("^({})$", several.join("|")),
    });
    parts.join("/")
}

#[cfg(test)]
mod tests;
