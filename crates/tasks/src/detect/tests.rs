//! Small projects of several ecosystems, with the tasks that are found in them.

use base::AbsPath;
use host::FakeFiles;

use super::{MAX_FOLDERS, MAX_TASKS, detect};
use crate::definition::{TaskDefinition, TaskGroup};

fn tasks(files: &[(&str, &str)]) -> Vec<TaskDefinition> {
    let disk = FakeFiles::new();
    let root = AbsPath::new("/p").expect("absolute");
    disk.folder(&root);
    for (name, text) in files {
        disk.write(&root.join(name), text);
    }
    detect(&disk, &root)
}

/// Checks the labels with the commands, where both differ.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let tasks = tasks(files);
    let lines = tasks.iter().map(|task| match task.written() {
        command if command == task.label => command,
        command => format!("{} = {command}", task.label),
    });
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

#[test]
fn packages_programs_and_examples_of_cargo_are_found() {
    check(
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            ("crates/tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
            ("crates/tool/src/main.rs", ""),
            ("crates/tool/src/bin/other.rs", ""),
            ("crates/tool/examples/show/main.rs", ""),
            ("target/x/Cargo.toml", "[package]\nname = \"no\"\n"),
        ],
        &[
            "cargo build",
            "cargo check",
            "cargo clippy",
            "cargo test",
            "cargo bench",
            "cargo build -p tool",
            "cargo test -p tool",
            "cargo run -p tool --bin other",
            "cargo run -p tool --bin tool",
            "cargo run -p tool --example show",
        ],
    );
    let single = tasks(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/main.rs", ""),
    ]);
    let build = single.iter().find(|task| task.label == "cargo build");
    let build = build.expect("a task");
    assert_eq!(
        (build.group, build.is_default),
        (Some(TaskGroup::Build), true)
    );
    assert_eq!(build.matchers.len(), 2);
    assert!(single.iter().any(|task| task.label == "cargo run"));
}

#[test]
fn scripts_run_by_the_package_manager_of_the_lock_file() {
    let manifest =
        r#"{ "scripts": { "build": "tsc", "watch": "tsc -w && true", "lint": "eslint ." } }"#;
    for (lock, manager) in [
        ("package-lock.json", "npm"),
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("README", "npm"),
    ] {
        let found = tasks(&[("package.json", manifest), (lock, "")]);
        let written: Vec<String> = found.iter().map(TaskDefinition::written).collect();
        let expected = ["build", "watch", "lint"].map(|name| format!("{manager} run {name}"));
        assert_eq!(written, expected);
        assert!(found[1].is_background && !found[0].is_background);
        assert_eq!((found[0].matchers.len(), found[2].matchers.len()), (2, 1));
    }
    check(
        &[
            ("package.json", r#"{ "packageManager": "pnpm@9.1.0" }"#),
            ("pnpm-lock.yaml", ""),
            ("web/package.json", r#"{ "scripts": { "dev": "vite" } }"#),
            ("node_modules/x/package.json", manifest),
            ("bad/package.json", "{"),
        ],
        &["pnpm run dev (web) = pnpm run dev"],
    );
}

#[test]
fn targets_and_recipes_are_found() {
    check(
        &[
            ("Makefile", "all: x\nx:\n\techo\n"),
            ("sub/makefile", "y:\n"),
        ],
        &["make all", "make x", "make y (sub) = make y"],
    );
    check(
        &[("justfile", "build:\n  x\ndeploy host:\n  x\n")],
        &["just build"],
    );
}

#[test]
fn pytest_runs_by_the_environment_of_the_project() {
    check(
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("tests/conftest.py", ""),
        ],
        &["pytest = python3 -m pytest"],
    );
    check(
        &[("pytest.ini", ""), (".venv/bin/python", "")],
        &["pytest = .venv/bin/python -m pytest"],
    );
    check(
        &[("setup.py", ""), ("uv.lock", ""), ("tests/test_a.py", "")],
        &["pytest = uv run pytest"],
    );
    check(
        &[("pytest.ini", ""), ("poetry.lock", "")],
        &["pytest = poetry run pytest"],
    );
    check(
        &[("a/pytest.ini", ""), (".venv/bin/python", "")],
        &["pytest (a) = /p/.venv/bin/python -m pytest"],
    );
    check(&[("setup.py", ""), ("tests/data.txt", "")], &[]);
}

#[test]
fn modules_of_go_and_projects_of_cmake_are_found() {
    check(
        &[("go.mod", "module x\n"), ("main.go", "")],
        &[
            "go build = go build ./...",
            "go vet = go vet ./...",
            "go test = go test ./...",
            "go run = go run .",
        ],
    );
    let fresh = [("CMakeLists.txt", ""), ("src/CMakeLists.txt", "")];
    check(
        &fresh,
        &[
            "cmake configure = cmake -S . -B build",
            "cmake build = cmake --build build",
            "ctest = ctest --test-dir build --output-on-failure",
        ],
    );
    assert_eq!(tasks(&fresh)[1].dependencies, ["cmake configure"]);
    let configured = tasks(&[("CMakeLists.txt", ""), ("build/CMakeCache.txt", "")]);
    assert!(configured[1].dependencies.is_empty());
}

#[test]
fn gradle_and_maven_run_by_their_wrappers() {
    check(
        &[
            ("settings.gradle.kts", ""),
            ("gradlew", ""),
            ("app/build.gradle.kts", ""),
        ],
        &[
            "gradle build = ./gradlew build",
            "gradle test = ./gradlew test",
            "gradle run = ./gradlew run",
        ],
    );
    check(
        &[("pom.xml", ""), ("module/pom.xml", "")],
        &["mvn compile", "mvn test", "mvn package"],
    );
}

#[test]
fn reading_is_bounded() {
    let names: Vec<String> = (0..2 * MAX_FOLDERS)
        .map(|ix| format!("d{ix}/Makefile"))
        .collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "a:\nb:\nc:\nd:\n"))
        .collect();
    let found = tasks(&files);
    assert!(found.len() <= MAX_TASKS);
    assert!(found.len() >= MAX_FOLDERS);
    let deep = [("1/2/3/4/5/6/Makefile", "a:\n")];
    check(&deep, &[]);
    let large = format!("a:\n{}", "#".repeat(600 << 10));
    check(&[("Makefile", large.as_str())], &[]);
    check(&[], &[]);
}
