//! Tests of commands: targets in, the words of the command out.

use super::*;
use crate::project::tests::{SampleFiles, absolute, cargo, id};

fn target(file: &str, names: &[&str], kind: TestKind) -> TestTarget {
    TestTarget {
        id: id(file, names),
        kind,
    }
}

fn test(file: &str, names: &[&str]) -> TestTarget {
    target(file, names, TestKind::Test)
}

fn suite(file: &str, names: &[&str]) -> TestTarget {
    target(file, names, TestKind::Suite)
}

/// Checks the words of the command for targets in the project of a file.
fn check(files: &SampleFiles, file: &str, targets: &[TestTarget], expected: &[&str]) {
    let command = files.project(file).expect("a project").command(targets);
    let words: Vec<&str> = std::iter::once(&command.program)
        .chain(&command.arguments)
        .map(String::as_str)
        .collect();
    assert_eq!(words, expected);
}

#[test]
fn cargo_runs_exactly_the_named_tests() {
    let files = cargo();
    let file = "/p/one-a/src/a.rs";
    let run = |targets: &[TestTarget], expected: &[&str]| check(&files, file, targets, expected);
    let start = ["cargo", "test", "--no-fail-fast"];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    run(
        &[test(file, &["tests", "adds"])],
        &with(&["--lib", "--", "--exact", "a::tests::adds"]),
    );
    run(
        &[suite(file, &["tests"])],
        &with(&["--lib", "--", "a::tests::"]),
    );
    run(&[suite(file, &[])], &with(&["--lib", "--", "a::"]));
    run(&[suite("/p/one-a/src/lib.rs", &[])], &with(&["--lib"]));
    run(
        &[
            test(file, &["adds"]),
            test("/p/one-a/tests/it.rs", &["works"]),
            test("/p/one-a/src/b.rs", &["adds"]),
        ],
        &with(&[
            "--lib", "--test", "it", "--", "--exact", "a::adds", "works", "b::adds",
        ]),
    );
    run(
        &[target(file, &["cases"], TestKind::Parameterized)],
        &with(&["--lib", "--", "a::cases"]),
    );
    run(&[], &with(&["--workspace"]));
    let project = files.project(file).expect("a project");
    assert_eq!(project.command(&[]).folder, absolute("/p"));
    let one = [test(file, &["adds"])];
    assert_eq!(project.command(&one).folder, absolute("/p/one-a"));
    // Too many names for a command line.
    let many = vec![test(file, &["adds"]); MAX_NAMED + 1];
    run(&many, &with(&["--workspace"]));
}

#[test]
fn nextest_selects_by_expressions() {
    let files = SampleFiles::new(&[
        ("/p/Cargo.toml", "[package]\nname = \"a\"\n"),
        ("/p/src/lib.rs", ""),
        ("/p/.config/nextest.toml", ""),
    ]);
    let file = "/p/src/x.rs";
    let start = ["cargo", "nextest", "run", "--no-fail-fast", "--color=never"];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    check(
        &files,
        file,
        &[test(file, &["tests", "a"]), suite(file, &["more"])],
        &with(&["--lib", "-E", "test(=x::tests::a) | test(x::more::)"]),
    );
    check(
        &files,
        file,
        &[suite("/p/src/lib.rs", &[])],
        &with(&["--lib"]),
    );
    check(&files, file, &[], &with(&["--workspace"]));
    assert_eq!(
        nextest_quoted("a) + all("),
        "a\\u{29}\\u{20}\\u{2b}\\u{20}all\\u{28}"
    );
}

#[test]
fn pytest_gets_node_ids_as_they_are() {
    let files = SampleFiles::new(&[]);
    let start = ["python3", "-m", "pytest", "-v", "--tb=short", "--color=no"];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    let file = "/p/tests/test a'b.py";
    check(
        &files,
        file,
        &[test(file, &["TestA", "test_x"]), suite("/p/-k.py", &[])],
        &with(&["tests/test a'b.py::TestA::test_x", "./-k.py"]),
    );
    check(&files, file, &[], &with(&[]));
}

#[test]
fn names_are_escaped_for_javascript() {
    let jest = r#"{ "devDependencies": { "jest": "^29" } }"#;
    let files = SampleFiles::new(&[("/p/package.json", jest)]);
    let file = "/p/a.test.js";
    let start = [
        "npx",
        "--no-install",
        "jest",
        "--json",
        "--testLocationInResults",
    ];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    check(
        &files,
        file,
        &[test(file, &["sums (a|b)", "adds $1 'x' \"y\""])],
        &with(&[
            "--testNamePattern=^(sums \\(a\\|b\\) adds \\$1 'x' \"y\")$",
            "--runTestsByPath",
            file,
        ]),
    );
    check(
        &files,
        file,
        &[
            suite(file, &["sums"]),
            target(file, &["adds %i to $b."], TestKind::Parameterized),
        ],
        &with(&[
            "--testNamePattern=^(sums .*|adds .* to .*)$",
            "--runTestsByPath",
            file,
        ]),
    );
    check(
        &files,
        file,
        &[suite(file, &[])],
        &with(&["--runTestsByPath", file]),
    );
    check(&files, file, &[], &with(&[]));
    let vitest = r#"{ "devDependencies": { "vitest": "^3" } }"#;
    let files = SampleFiles::new(&[("/p/package.json", vitest), ("/p/pnpm-lock.yaml", "")]);
    check(
        &files,
        file,
        &[test(file, &["-a"])],
        &[
            "pnpm",
            "exec",
            "vitest",
            "run",
            "--reporter=json",
            "--testNamePattern=^(-a)$",
            "/a.test.js",
        ],
    );
}

#[test]
fn folders_run_with_parts_of_names() {
    let check = |files: &SampleFiles, folder: &str, name: Option<&str>, expected: &[&str]| {
        let folder = absolute(folder);
        let project = crate::TestProject::of_folder(&folder, &absolute("/p"), files);
        let command = project.expect("a project").folder_command(&folder, name);
        let words = std::iter::once(command.program).chain(command.arguments);
        assert_eq!(words.collect::<Vec<_>>(), expected);
    };
    let cargo = cargo();
    let start = ["cargo", "test", "--no-fail-fast"];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    check(&cargo, "/p", None, &with(&["--workspace"]));
    check(&cargo, "/p/two/src", None, &with(&[]));
    check(&cargo, "/p/two", Some("a::b"), &with(&["--", "a::b"]));
    let python = SampleFiles::new(&[("/p/pytest.ini", "")]);
    let start = ["python3", "-m", "pytest", "-v", "--tb=short", "--color=no"];
    let with = |rest: &[&'static str]| [&start[..], rest].concat();
    check(&python, "/p", None, &with(&[]));
    let rest = ["-k=adds and two", "./tests"];
    check(&python, "/p/tests", Some("adds or (two)"), &with(&rest));
    let go = SampleFiles::new(&[("/p/go.mod", "module a\n")]);
    let expected = ["go", "test", "-json", "-run=a\\.b", "./x/..."];
    check(&go, "/p/x", Some("a.b"), &expected);
    let jest = r#"{ "devDependencies": { "jest": "^29" } }"#;
    let jest = SampleFiles::new(&[("/p/package.json", jest)]);
    let expected = [
        "npx",
        "--no-install",
        "jest",
        "--json",
        "--testLocationInResults",
        "--testNamePattern=a\\+b",
        "/src\\.x/",
    ];
    check(&jest, "/p/src.x", Some("a+b"), &expected);
    let none = SampleFiles::new(&[]);
    assert_eq!(
        crate::TestProject::of_folder(&absolute("/p"), &absolute("/p"), &none),
        None
    );
}

#[test]
fn go_patterns_match_the_parts_of_names() {
    let files = SampleFiles::new(&[("/p/go.mod", "module example.com/a\n")]);
    let file = "/p/x/a_test.go";
    let run = |targets: &[TestTarget], rest: &[&str]| {
        let expected = [&["go", "test", "-json"][..], rest].concat();
        check(&files, file, targets, &expected);
    };
    run(&[test(file, &["TestA"])], &["-run=^TestA$", "./x"]);
    run(
        &[test(file, &["TestA", "two (a.b)/c"])],
        &["-run=^TestA$/^two_\\(a\\.b\\)$/^c$", "./x"],
    );
    run(
        &[test(file, &["TestA"]), test("/p/b_test.go", &["TestB"])],
        &["-run=^(TestA|TestB)$", ".", "./x"],
    );
    run(
        &[test(file, &["TestA", "x"]), test(file, &["TestA", "y"])],
        &["-run=^TestA$/^(x|y)$", "./x"],
    );
    run(
        &[test(file, &["TestA", "x"]), test(file, &["TestB", "y"])],
        &["-run=^(TestA|TestB)$", "./x"],
    );
    run(&[suite(file, &[])], &["./x"]);
    run(&[], &["./..."]);
}
