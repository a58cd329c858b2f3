//! Tests of projects: sample folders of four ecosystems, and the names of their tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::item::TestId;
use crate::outcome::{FailureLocation, ReportedTest};

/// Files in memory.
pub(crate) struct SampleFiles(BTreeMap<AbsPath, String>);

impl SampleFiles {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let files = files.iter();
        Self(
            files
                .map(|(path, text)| (absolute(path), (*text).to_owned()))
                .collect(),
        )
    }

    /// Returns the project of a file below `/p`.
    pub(crate) fn project(&self, file: &str) -> Option<TestProject> {
        TestProject::of_file(&absolute(file), &absolute("/p"), self)
    }

    /// Returns the project of a file that must have one.
    pub(crate) fn shared(&self, file: &str) -> Arc<TestProject> {
        Arc::new(self.project(file).expect("a project"))
    }
}

impl ManifestReader for SampleFiles {
    fn read(&self, path: &AbsPath) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn exists(&self, path: &AbsPath) -> bool {
        self.0.contains_key(path)
    }
}

pub(crate) fn absolute(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

pub(crate) fn id(file: &str, names: &[&str]) -> TestId {
    TestId {
        file: absolute(file),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// A workspace of Cargo with two packages.
pub(crate) fn cargo() -> SampleFiles {
    SampleFiles::new(&[
        (
            "/p/Cargo.toml",
            "[workspace]\nmembers = [\"one-a\", \"two\"]\n",
        ),
        (
            "/p/one-a/Cargo.toml",
            "[package]\nedition = \"2024\"\nname = \"one-a\" # name\n",
        ),
        ("/p/one-a/src/lib.rs", ""),
        (
            "/p/two/Cargo.toml",
            "[package]\nname = 'two'\n[dependencies]\nname = \"other\"\n",
        ),
        ("/p/two/src/main.rs", ""),
    ])
}

#[test]
fn a_rust_file_belongs_to_the_nearest_package() {
    let files = cargo();
    let project = files.project("/p/one-a/src/deep/a.rs").expect("a project");
    assert_eq!(project.framework, TestFramework::CargoTest);
    assert_eq!(project.folder, absolute("/p/one-a"));
    assert_eq!(project.base, absolute("/p"));
    assert_eq!(project.name, "one-a");
    let nextest = SampleFiles::new(&[
        (
            "/p/Cargo.toml",
            "[workspace.package]\n[package]\nname = \"a\"\n",
        ),
        ("/p/.config/nextest.toml", ""),
    ]);
    let project = nextest.project("/p/src/lib.rs").expect("a project");
    assert_eq!(project.framework, TestFramework::Nextest);
    assert_eq!(files.project("/q/a.rs"), None);
    assert_eq!(SampleFiles::new(&[]).project("/p/a.rs"), None);
}

#[test]
fn modules_of_rust_follow_the_files_of_their_target() {
    let files = cargo();
    let check = |file: &str, suite: &str, name: &str, target: &[&str]| {
        let project = files.project(file).expect("a project");
        let reported = project.reported(&id(file, &["tests", "adds"]));
        assert_eq!((&*reported.suite, &*reported.name), (suite, name), "{file}");
        let module = project.cargo_module(&absolute(file));
        assert_eq!(module.target, target, "{file}");
    };
    check("/p/one-a/src/lib.rs", "one_a", "tests::adds", &["--lib"]);
    check(
        "/p/one-a/src/a/b.rs",
        "one_a",
        "a::b::tests::adds",
        &["--lib"],
    );
    check(
        "/p/one-a/src/a/mod.rs",
        "one_a",
        "a::tests::adds",
        &["--lib"],
    );
    check(
        "/p/one-a/tests/it.rs",
        "it",
        "tests::adds",
        &["--test", "it"],
    );
    check(
        "/p/one-a/tests/it/main.rs",
        "it",
        "tests::adds",
        &["--test", "it"],
    );
    check(
        "/p/one-a/tests/it/a.rs",
        "it",
        "a::tests::adds",
        &["--test", "it"],
    );
    check("/p/two/src/main.rs", "two", "tests::adds", &["--bins"]);
    check("/p/two/src/a.rs", "two", "a::tests::adds", &["--bins"]);
    check(
        "/p/two/src/bin/x-y.rs",
        "x_y",
        "tests::adds",
        &["--bin", "x-y"],
    );
    check(
        "/p/two/examples/e.rs",
        "e",
        "tests::adds",
        &["--example", "e"],
    );
}

#[test]
fn python_runs_in_the_configured_folder_with_its_environment() {
    let files = SampleFiles::new(&[
        ("/p/pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("/p/.venv/bin/python", ""),
        ("/p/pkg/conftest.py", ""),
    ]);
    let project = files.project("/p/pkg/test_a.py").expect("a project");
    assert_eq!(project.folder, absolute("/p"));
    assert_eq!(project.launcher, ["/p/.venv/bin/python", "-m", "pytest"]);
    let node = project.node_id(&id("/p/pkg/test_a.py", &["TestA", "test_x"]));
    assert_eq!(node, "pkg/test_a.py::TestA::test_x");
    let plain = SampleFiles::new(&[("/p/pkg/setup.cfg", "[tool:pytest]\n")]);
    let project = plain.project("/p/pkg/test_a.py").expect("a project");
    assert_eq!(project.folder, absolute("/p/pkg"));
    assert_eq!(project.launcher, ["python3", "-m", "pytest"]);
    let none = SampleFiles::new(&[]).project("/p/test_a.py");
    assert_eq!(none.expect("a project").folder, absolute("/p"));
}

#[test]
fn javascript_uses_the_packages_runner_and_manager() {
    let check = |files: &[(&str, &str)], framework: TestFramework, launcher: &[&str]| {
        let project = SampleFiles::new(files).project("/p/app/src/a.test.ts");
        let project = project.expect("a project");
        assert_eq!(project.framework, framework);
        assert_eq!(project.launcher, launcher);
        assert_eq!(project.folder, absolute("/p/app"));
    };
    let jest = r#"{ "devDependencies": { "jest": "^29" } }"#;
    let vitest = r#"{ "devDependencies": { "vitest": "^3", "jest": "1" } }"#;
    let npx = ["npx", "--no-install", "jest"];
    check(&[("/p/app/package.json", jest)], TestFramework::Jest, &npx);
    check(
        &[("/p/app/package.json", vitest), ("/p/pnpm-lock.yaml", "")],
        TestFramework::Vitest,
        &["pnpm", "exec", "vitest"],
    );
    check(
        &[("/p/app/package.json", jest), ("/p/app/yarn.lock", "")],
        TestFramework::Jest,
        &["yarn", "jest"],
    );
    let without = SampleFiles::new(&[("/p/package.json", "{}")]);
    assert_eq!(without.project("/p/a.test.js"), None);
    let broken = SampleFiles::new(&[("/p/package.json", "{ jest")]);
    assert_eq!(broken.project("/p/a.test.js"), None);
}

#[test]
fn go_packages_are_named_by_the_module() {
    let files = SampleFiles::new(&[(
        "/p/go.mod",
        "module example.com/sums // comment\n\ngo 1.22\n",
    )]);
    let project = files.project("/p/a/a_test.go").expect("a project");
    let reported = project.reported(&id("/p/a/a_test.go", &["TestAdd", "two numbers\t"]));
    let expected = ReportedTest {
        suite: "example.com/sums/a".to_owned(),
        name: "TestAdd/two_numbers_".to_owned(),
    };
    assert_eq!(reported, expected);
    let location = FailureLocation::parse("a_test.go:12").expect("a place");
    assert_eq!(
        project.locate(&expected, &location),
        absolute("/p/a/a_test.go")
    );
    let root = project.reported(&id("/p/a_test.go", &["TestAdd"]));
    assert_eq!(root.suite, "example.com/sums");
}

#[test]
fn titles_expand_to_names() {
    let check = |title: &str, name: &str, expected: bool| {
        assert_eq!(is_expansion(title, name), expected, "{title} {name}");
    };
    check("adds %i to %i", "adds 1 to 22", true);
    check("adds %i to %i", "adds 1 and 22", false);
    check("table $a.b!", "table x y!", true);
    check("table $a.b!", "table x y", false);
    check("value ${1 + 1}", "value 2", true);
    check("plain", "plain", true);
    check("plain", "plain ", false);
    check("100% sure", "100% sure", true);
    check("%s", "", true);
    check("costs $5", "costs $5", true);
}

#[test]
fn tests_run_by_the_tools_of_the_project() {
    let check = |lock: &str, file: &str, expected: &[&str]| {
        let manifest = r#"{ "devDependencies": { "vitest": "1" } }"#;
        let files = SampleFiles::new(&[("/p/package.json", manifest), (lock, "")]);
        let command = files.project(file).expect("a project").command(&[]);
        let mut words = vec![command.program];
        words.extend(command.arguments);
        assert_eq!(words[..expected.len()], *expected, "{lock}");
    };
    check("/p/uv.lock", "/p/a/test_a.py", &["uv", "run", "pytest"]);
    check(
        "/p/poetry.lock",
        "/p/test_a.py",
        &["poetry", "run", "pytest"],
    );
    check("/p/Pipfile", "/p/test_a.py", &["pipenv", "run", "pytest"]);
    let python = ["/p/a/.venv/bin/python", "-m", "pytest"];
    check("/p/a/.venv/bin/python", "/p/a/test_a.py", &python);
    check(
        "/p/pnpm-lock.yaml",
        "/p/a.test.ts",
        &["pnpm", "exec", "vitest"],
    );
    check("/p/yarn.lock", "/p/a.test.ts", &["yarn", "vitest"]);
    check("/p/bun.lock", "/p/a.test.ts", &["bunx", "vitest"]);
    check(
        "/p/README",
        "/p/a.test.ts",
        &["npx", "--no-install", "vitest"],
    );
}
