//! Tests of the state: files and reports in, rows out.

use base::ByteOffset;

use super::*;
use crate::discovery::discover_in_text;
use crate::outcome::FailureLocation;
use crate::project::tests::{SampleFiles, absolute, cargo, id};

/// A state with the tests of files, and their projects.
fn state(files: &SampleFiles, texts: &[(&str, &str)]) -> TestState {
    let mut state = TestState::default();
    for (path, text) in texts {
        let project = files.shared(path);
        let file = absolute(path);
        state.set_file(FileTests {
            items: discover_in_text(text, &file, project.framework),
            project,
            file,
        });
    }
    state
}

fn report(suite: &str, name: &str, status: TestStatus) -> TestReport {
    TestReport {
        test: ReportedTest {
            suite: suite.to_owned(),
            name: name.to_owned(),
        },
        outcome: TestOutcome::new(status),
    }
}

/// Formats each row for assertions: a dot for each level of indentation, the label, the first letter of the state,
/// and `~` if the result is stale.
fn rows(state: &TestState, filter: &TestFilter) -> Vec<String> {
    let rows = state.rows(&absolute("/p"), filter).into_iter();
    rows.map(|row| {
        let letter = match row.status {
            None => "-",
            Some(TestStatus::Running) => "R",
            Some(TestStatus::Passed) => "P",
            Some(TestStatus::Failed) => "F",
            Some(TestStatus::Skipped) => "S",
            Some(TestStatus::NotRun) => "N",
        };
        let stale = if row.is_stale { "~" } else { "" };
        format!("{}{} {letter}{stale}", ".".repeat(row.depth), row.label)
    })
    .collect()
}

const LIBRARY: &str =
    "mod tests {\n    #[test]\n    fn adds() {}\n    #[test]\n    fn subtracts() {}\n}\n";

#[test]
fn reports_set_the_states_of_tests_suites_and_files() {
    let files = cargo();
    let lib = "/p/one-a/src/lib.rs";
    let mut state = state(&files, &[(lib, LIBRARY), ("/p/two/src/main.rs", LIBRARY)]);
    let project = files.shared(lib);
    let all = state.tests_within(&id(lib, &[]));
    assert_eq!(all.len(), 2);
    state.begin(&all);
    // The same name in another package is another test.
    let file = state.apply(&project, report("one_a", "tests::adds", TestStatus::Passed));
    assert_eq!(file, Some(absolute(lib)));
    let filter = TestFilter::default();
    let shown = rows(&state, &filter);
    let expected = [
        "one-a/src/lib.rs R",
        ".tests R",
        "..adds P",
        "..subtracts R",
        "two/src/main.rs -",
        ".tests -",
        "..adds -",
        "..subtracts -",
    ];
    assert_eq!(shown, expected);
    state.finish(&all, &TestRunEnd::Exited(101), "error: no");
    let outcome = state.outcome(&id(lib, &["tests", "subtracts"]));
    let outcome = outcome.expect("a result");
    assert_eq!(outcome.status, TestStatus::NotRun);
    assert_eq!(
        outcome.message,
        "the runner ended with exit code 101 before it reported this test\nerror: no"
    );
    let counts = state.counts();
    assert_eq!((counts.total, counts.passed, counts.not_run), (4, 1, 1));
    assert_eq!(state.status(&id(lib, &["tests"])), Some(TestStatus::NotRun));
}

#[test]
fn failures_come_first_and_have_their_places() {
    let files = cargo();
    let (lib, main) = ("/p/one-a/src/lib.rs", "/p/two/src/main.rs");
    let mut state = state(&files, &[(lib, LIBRARY), (main, LIBRARY)]);
    let project = files.shared(main);
    let mut failed = report("two", "tests::subtracts", TestStatus::Failed);
    failed.outcome.set_message("no");
    failed.outcome.location = FailureLocation::parse("two/src/main.rs:5:9");
    state.apply(&project, failed);
    state.apply(&project, report("two", "tests::adds", TestStatus::Passed));
    let filter = TestFilter {
        failed_first: true,
        text: String::new(),
    };
    let shown = rows(&state, &filter);
    let expected = ["two/src/main.rs F", ".tests F", "..subtracts F", "..adds P"];
    assert_eq!(shown[..4], expected);
    let failures: Vec<_> = state.failures().collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].file, &absolute(main));
    assert_eq!((failures[0].line, failures[0].column), (5, Some(9)));
    assert_eq!(failures[0].message, "no");
    assert_eq!(state.failed(), [id(main, &["tests", "subtracts"])]);
    // The report without details that follows keeps them.
    state.apply(
        &project,
        report("two", "tests::subtracts", TestStatus::Failed),
    );
    assert_eq!(state.failures().count(), 1);
    state.begin(&state.failed());
    assert_eq!(state.failures().count(), 0);
}

#[test]
fn a_filter_keeps_the_suites_around_its_tests() {
    let files = cargo();
    let state = state(
        &files,
        &[
            ("/p/one-a/src/lib.rs", LIBRARY),
            ("/p/two/src/main.rs", LIBRARY),
        ],
    );
    let filter = |text: &str| TestFilter {
        text: text.to_owned(),
        failed_first: false,
    };
    assert_eq!(
        rows(&state, &filter("ONE adds")),
        ["one-a/src/lib.rs -", ".tests -", "..adds -"]
    );
    assert_eq!(rows(&state, &filter("tests sub two")).len(), 3);
    assert_eq!(rows(&state, &filter("nothing")).len(), 0);
}

#[test]
fn results_become_stale_and_survive_a_new_reading() {
    let files = cargo();
    let lib = "/p/one-a/src/lib.rs";
    let mut state = state(&files, &[(lib, LIBRARY)]);
    let project = files.shared(lib);
    state.apply(&project, report("one_a", "tests::adds", TestStatus::Passed));
    assert!(state.mark_stale(&absolute(lib)));
    assert!(!state.mark_stale(&absolute(lib)));
    let text = LIBRARY.replace("subtracts", "divides");
    state.set_file(FileTests {
        file: absolute(lib),
        items: discover_in_text(&text, &absolute(lib), project.framework),
        project: project.clone(),
    });
    let filter = TestFilter::default();
    let expected = [
        "one-a/src/lib.rs P~",
        ".tests P~",
        "..adds P~",
        "..divides -",
    ];
    assert_eq!(rows(&state, &filter), expected);
    let gone = report("one_a", "tests::subtracts", TestStatus::Passed);
    assert_eq!(state.apply(&project, gone), None);
    state.apply(&project, report("one_a", "tests::adds", TestStatus::Passed));
    assert_eq!(rows(&state, &filter)[2], "..adds P");
    state.remove_file(&absolute(lib));
    assert_eq!(state.files().count(), 0);
}

#[test]
fn inputs_and_unknown_subtests_count_for_their_test() {
    let python = SampleFiles::new(&[]);
    let text = "@pytest.mark.parametrize('a', [1, 2])\ndef test_many(a): pass\n";
    let mut many = state(&python, &[("/p/test_a.py", text)]);
    let project = python.shared("/p/test_a.py");
    let test = id("/p/test_a.py", &["test_many"]);
    let named = |input: &str, status| report("", &format!("test_a.py::test_many[{input}]"), status);
    many.apply(&project, named("1", TestStatus::Failed));
    many.apply(&project, named("2", TestStatus::Passed));
    assert_eq!(many.status(&test), Some(TestStatus::Failed));
    many.begin(std::slice::from_ref(&test));
    many.apply(&project, named("1", TestStatus::Passed));
    assert_eq!(many.status(&test), Some(TestStatus::Passed));

    let go = SampleFiles::new(&[("/p/go.mod", "module a\n")]);
    let text = "package a\nfunc TestAll(t *testing.T) {}\n";
    let mut all = state(&go, &[("/p/a_test.go", text)]);
    let project = go.shared("/p/a_test.go");
    let mut inner = report("a", "TestAll/case/deep", TestStatus::Failed);
    inner.outcome.set_message("got 3");
    all.apply(&project, inner);
    all.apply(&project, report("a", "TestAll", TestStatus::Failed));
    let outcome = all.outcome(&id("/p/a_test.go", &["TestAll"]));
    assert_eq!(outcome.expect("a result").message, "got 3");

    let package = r#"{ "devDependencies": { "jest": "^29" } }"#;
    let jest = SampleFiles::new(&[("/p/package.json", package)]);
    let text = "describe('a', () => { test.each([1, 2])('is %i', n => {}); });";
    let mut each = state(&jest, &[("/p/a.test.js", text)]);
    let project = jest.shared("/p/a.test.js");
    let file = each.apply(
        &project,
        report("/p/a.test.js", "a is 2", TestStatus::Passed),
    );
    assert!(file.is_some());
    let other = each.apply(
        &project,
        report("/p/a.test.js", "b is 2", TestStatus::Passed),
    );
    assert_eq!(other, None);
}

#[test]
fn the_innermost_test_touches_the_row_of_the_caret() {
    let files = cargo();
    let lib = "/p/one-a/src/lib.rs";
    let state = state(&files, &[(lib, LIBRARY)]);
    let check = |row: &str, expected: Option<&str>| {
        let at = LIBRARY.find(row).expect("a row");
        let span = Span::new(ByteOffset(at), ByteOffset(at + row.len()));
        let item = state.touching(&absolute(lib), span);
        assert_eq!(item.map(|it| it.label.as_str()), expected, "{row}");
    };
    check("    fn adds() {}", Some("adds"));
    check("mod tests {", Some("tests"));
    check("    fn subtracts() {}", Some("subtracts"));
    assert_eq!(state.touching(&absolute("/p/x.rs"), Span::default()), None);
    let target = state.target(&id(lib, &["tests"]));
    assert_eq!(target.kind, TestKind::Suite);
}
