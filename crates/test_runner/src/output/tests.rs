//! Tests of the parsers on outputs of the runners, split at every byte.

use crate::outcome::{TestOutcome, TestStatus};
use crate::project::tests::{SampleFiles, cargo};

use super::*;

/// Returns a parser for the runner of one of the sample projects.
fn parser(framework: TestFramework) -> OutputParser {
    let mut project = cargo().project("/p/one-a/src/lib.rs").expect("a project");
    project.framework = framework;
    OutputParser::new(&project)
}

/// Reads an output in chunks, and returns the reports and the last lines.
fn read<'a>(
    framework: TestFramework,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<TestReport>, String) {
    let mut parser = parser(framework);
    let mut reports = Vec::new();
    for chunk in chunks {
        reports.extend(parser.feed(chunk));
    }
    reports.extend(parser.finish());
    (reports, parser.tail())
}

/// Reads an output whole, and split at every byte, with the same result.
fn reports(framework: TestFramework, output: &str) -> (Vec<TestReport>, String) {
    let bytes = output.as_bytes();
    let whole = read(framework, [bytes]);
    for at in 0..=bytes.len() {
        let (before, after) = bytes.split_at(at);
        assert_eq!(read(framework, [before, after]), whole, "split at {at}");
    }
    assert_eq!(read(framework, bytes.chunks(1)), whole, "single bytes");
    whole
}

/// Returns a report as a row: suite, name, state, message, place, output.
fn row(report: &TestReport) -> String {
    let TestOutcome {
        status,
        duration,
        message,
        location,
        output,
    } = &report.outcome;
    let mut row = format!("{}|{}|{status:?}", report.test.suite, report.test.name);
    if let Some(duration) = duration {
        row.push_str(&format!("|{}ms", duration.as_millis()));
    }
    if !message.is_empty() {
        row.push_str(&format!("|{message:?}"));
    }
    if let Some(place) = location {
        let column = place.column.map(|it| format!(":{it}")).unwrap_or_default();
        row.push_str(&format!("|{}:{}{column}", place.path, place.line));
    }
    if !output.is_empty() {
        row.push_str(&format!("|{} lines", output.lines().count()));
    }
    row
}

fn check(framework: TestFramework, output: &str, expected: &[&str], tail: &str) {
    let (reports, last) = reports(framework, output);
    let rows: Vec<String> = reports.iter().map(row).collect();
    assert_eq!(rows, expected);
    assert_eq!(last, tail);
}

const CARGO: &str = "   Compiling one-a v0.1.0 (/p/one-a)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.52s
     Running unittests src/lib.rs (target/debug/deps/one_a-0123456789abcdef)

running 5 tests
test tests::adds ... ok
test tests::later ... ignored, needs a network
test tests::overflows - should panic ... ok
test tests::returns ... FAILED
test tests::subtracts ... FAILED

failures:

---- tests::returns stdout ----
Error: \"no such file\"

---- tests::subtracts stdout ----
printed by the test

thread 'tests::subtracts' (4711) panicked at one-a/src/lib.rs:17:9:
assertion `left == right` failed: with a message
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    tests::returns
    tests::subtracts

test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p one-a --lib`
     Running tests/it.rs (target/debug/deps/it-fedcba9876543210)

running 1 test
test works ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests one_a

running 1 test
test one-a/src/lib.rs - adds (line 3) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.31s

";

#[test]
fn cargo_test_reports_results_then_failures() {
    let expected = [
        "one_a|tests::adds|Passed",
        "one_a|tests::later|Skipped|\"needs a network\"",
        "one_a|tests::overflows|Passed",
        "one_a|tests::returns|Failed",
        "one_a|tests::subtracts|Failed",
        "one_a|tests::returns|Failed|\"Error: \\\"no such file\\\"\"|1 lines",
        "one_a|tests::subtracts|Failed|\"assertion `left == right` failed: with a message\\n  left: 1\\n right: 2\"|one-a/src/lib.rs:17:9|7 lines",
        "it|works|Passed",
        "doc-tests one_a|one-a/src/lib.rs - adds (line 3)|Passed",
    ];
    let tail = "   Compiling one-a v0.1.0 (/p/one-a)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.52s\nerror: test failed, to rerun pass `-p one-a --lib`";
    check(TestFramework::CargoTest, CARGO, &expected, tail);
}

#[test]
fn cargo_test_of_an_older_compiler_is_read() {
    let output = "     Running unittests src/main.rs (target/debug/deps/two-0123456789abcdef)\n\n\
        running 1 test\ntest fails ... FAILED\n\nfailures:\n\n---- fails stdout ----\n\
        thread 'fails' panicked at 'it's, or', src/main.rs:3:5\n\
        note: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    fails\n\n\
        test result: FAILED. 0 passed; 1 failed\n";
    let expected = [
        "two|fails|Failed",
        "two|fails|Failed|\"it's, or\"|src/main.rs:3:5|2 lines",
    ];
    check(TestFramework::CargoTest, output, &expected, "");
}

#[test]
fn errors_of_the_compiler_are_the_tail() {
    let output = "   Compiling one-a v0.1.0 (/p/one-a)\nerror[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:3:5\n\nerror: could not compile `one-a` (lib test) due to 1 previous error\n";
    let tail = "   Compiling one-a v0.1.0 (/p/one-a)\nerror[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:3:5\nerror: could not compile `one-a` (lib test) due to 1 previous error";
    check(TestFramework::CargoTest, output, &[], tail);
}

#[test]
fn a_test_that_ends_its_program_is_still_running() {
    let output = "     Running unittests src/lib.rs (target/debug/deps/one_a-0123456789abcdef)\n\nrunning 2 tests\ntest tests::a ... ok\ntest tests::b ... ";
    let expected = ["one_a|tests::a|Passed", "one_a|tests::b|Running"];
    check(TestFramework::CargoTest, output, &expected, "");
}

#[test]
fn nextest_of_several_versions_is_read() {
    let newer = "    Starting 3 tests across 2 binaries (1 test skipped)
        PASS [   0.004s] (1/3) one-a tests::adds
        FAIL [   0.006s] (2/3) one-a::it works
  stdout ───

    running 1 test
    test works ... FAILED

    failures:

    failures:
        works

    test result: FAILED. 0 passed; 1 failed

  stderr ───

    thread 'works' panicked at one-a/tests/it.rs:4:5:
    assertion failed: false
    note: run with `RUST_BACKTRACE=1`

     SIGABRT [   0.010s] (3/3) one-a::bin/two tests::aborts
────────────
     Summary [   0.012s] 3 tests run: 1 passed, 2 failed, 1 skipped
        FAIL [   0.006s] (2/3) one-a::it works
     SIGABRT [   0.010s] (3/3) one-a::bin/two tests::aborts
error: test run failed
";
    let expected = [
        "one_a|tests::adds|Passed|4ms",
        "it|works|Failed|6ms",
        "it|works|Failed|6ms|\"assertion failed: false\"|one-a/tests/it.rs:4:5|15 lines",
        "two|tests::aborts|Failed|10ms|\"the test ended with SIGABRT\"",
    ];
    check(
        TestFramework::Nextest,
        newer,
        &expected,
        "    Starting 3 tests across 2 binaries (1 test skipped)",
    );
    let older = "        FAIL [   0.006s] one-a tests::fails\n\n\
        --- STDOUT:              one-a tests::fails ---\n\nrunning 1 test\n\n\
        --- STDERR:              one-a tests::fails ---\n\
        thread 'tests::fails' panicked at src/lib.rs:9:9:\nno\n\n\
        \x20       SLOW [> 60.000s] one-a tests::slow\n\
        \x20       PASS [  61.000s] one-a tests::slow\n\
        ------------\n     Summary [  61.010s] 2 tests run\n";
    let expected = [
        "one_a|tests::fails|Failed|6ms",
        "one_a|tests::fails|Failed|6ms|\"no\"|src/lib.rs:9:9|5 lines",
        "one_a|tests::slow|Running|60000ms",
        "one_a|tests::slow|Passed|61000ms",
    ];
    check(TestFramework::Nextest, older, &expected, "------------");
}

const PYTEST: &str =
    "============================= test session starts ==============================
platform linux -- Python 3.11.2, pytest-8.3.4, pluggy-1.5.0 -- /usr/bin/python3
cachedir: .pytest_cache
rootdir: /p
collecting ... collected 6 items

tests/test_a.py::test_ok PASSED                                          [ 16%]
tests/test_a.py::TestSums::test_fails FAILED                             [ 33%]
tests/test_a.py::test_many[a b-[1]] PASSED                               [ 50%]
tests/test_a.py::test_many[x] FAILED                                     [ 66%]
tests/test_a.py::test_skipped SKIPPED (needs a (real) network)           [ 83%]
tests/test_a.py::test_setup ERROR                                        [100%]

==================================== ERRORS ====================================
_________________________ ERROR at setup of test_setup _________________________
tests/conftest.py:5: in broken
    raise OSError('no')
E   OSError: no
=================================== FAILURES ===================================
_____________________________ TestSums.test_fails ______________________________
tests/test_a.py:7: in test_fails
    helper()
lib/helper.py:3: in helper
    assert add(1, 2) == 4
E   assert 3 == 4
E    +  where 3 = add(1, 2)
----------------------------- Captured stdout call -----------------------------
printed
_________________________________ test_many[x] _________________________________
tests/test_a.py:12: in test_many
    assert value.isdigit()
E   AssertionError: assert False
=========================== short test summary info ============================
FAILED tests/test_a.py::TestSums::test_fails - assert 3 == 4
FAILED tests/test_a.py::test_many[x] - AssertionError: assert False
ERROR tests/test_a.py::test_setup - OSError: no
=============== 2 failed, 2 passed, 1 skipped, 1 error in 0.05s ================
";

#[test]
fn pytest_reports_results_then_failures() {
    let expected = [
        "|tests/test_a.py::test_ok|Passed",
        "|tests/test_a.py::TestSums::test_fails|Failed",
        "|tests/test_a.py::test_many[a b-[1]]|Passed",
        "|tests/test_a.py::test_many[x]|Failed",
        "|tests/test_a.py::test_skipped|Skipped|\"needs a (real) network\"",
        "|tests/test_a.py::test_setup|Failed",
        "|tests/test_a.py::test_setup|Failed|\"OSError: no\"|tests/conftest.py:5|3 lines",
        "|tests/test_a.py::TestSums::test_fails|Failed|\"assert 3 == 4\\n +  where 3 = add(1, 2)\"|tests/test_a.py:7|8 lines",
        "|tests/test_a.py::test_many[x]|Failed|\"AssertionError: assert False\"|tests/test_a.py:12|3 lines",
    ];
    let tail = "platform linux -- Python 3.11.2, pytest-8.3.4, pluggy-1.5.0 -- /usr/bin/python3\ncachedir: .pytest_cache\nrootdir: /p\ncollecting ... collected 6 items";
    check(TestFramework::Pytest, PYTEST, &expected, tail);
}

#[test]
fn an_import_error_of_pytest_is_the_tail() {
    let output = "collecting ... collected 0 items / 1 error\n\n\
        ==================================== ERRORS ====================================\n\
        ______________________ ERROR collecting tests/test_b.py _______________________\n\
        tests/test_b.py:1: in <module>\n    import nothing\n\
        E   ModuleNotFoundError: No module named 'nothing'\n\
        =========================== short test summary info ============================\n\
        ERROR tests/test_b.py\n";
    let tail = "collecting ... collected 0 items / 1 error\nERROR collecting tests/test_b.py\ntests/test_b.py:1: in <module>\n    import nothing\nE   ModuleNotFoundError: No module named 'nothing'";
    check(TestFramework::Pytest, output, &[], tail);
}

#[test]
fn the_report_of_jest_is_one_line() {
    let report = r#"{"numFailedTests":1,"success":false,"testResults":[{"assertionResults":[{"ancestorTitles":["sums","inner (a|b)"],"duration":3,"failureMessages":[],"fullName":"sums inner (a|b) adds","location":{"column":3,"line":4},"status":"passed","title":"adds"},{"ancestorTitles":[],"duration":2.5,"failureMessages":["Error: \u001b[2mexpect(\u001b[22mreceived\u001b[2m).toBe(\u001b[22mexpected\n\nExpected: \u001b[32m4\u001b[39m\nReceived: \u001b[31m3\u001b[39m\n    at Object.toBe (/p/node_modules/x.js:1:2)\n    at Object.<anonymous> (/p/a.test.js:5:19)\n    at new Promise (<anonymous>)"],"fullName":"fails \"it\"","status":"failed","title":"fails \"it\""},{"ancestorTitles":[],"duration":null,"failureMessages":[],"status":"pending","title":"later"}],"message":"","name":"/p/a.test.js","status":"failed"},{"assertionResults":[],"message":"  ● Test suite failed to run\n\n    Cannot find module './nothing'","name":"/p/b.test.js","status":"failed"}]}"#;
    let output = format!("yarn run v1.22.22\n$ jest --json\nFAIL ./a.test.js\n{report}\n");
    let expected = [
        "/p/a.test.js|sums inner (a|b) adds|Passed|3ms",
        "/p/a.test.js|fails \"it\"|Failed|2ms|\"expect(received).toBe(expected\\n\\nExpected: 4\\nReceived: 3\"|/p/a.test.js:5:19|7 lines",
        "/p/a.test.js|later|Skipped",
    ];
    let tail = "yarn run v1.22.22\n$ jest --json\nFAIL ./a.test.js\n  ● Test suite failed to run\n    Cannot find module './nothing'";
    check(TestFramework::Jest, &output, &expected, tail);
}

#[test]
fn the_report_of_vitest_has_the_same_form() {
    let output = r#"{"numTotalTestSuites":2,"testResults":[{"assertionResults":[{"ancestorTitles":["sums"],"fullName":"sums fails","status":"failed","title":"fails","duration":4.2,"failureMessages":["AssertionError: expected 3 to be 4 // Object.is equality\n    at /p/a.test.ts:6:23\n    at file:///p/node_modules/vitest/dist/runner.js:1:2"],"meta":{}}],"startTime":1,"endTime":2,"status":"failed","message":"","name":"/p/a.test.ts"}]}
"#;
    let expected = [
        "/p/a.test.ts|sums fails|Failed|4ms|\"AssertionError: expected 3 to be 4 // Object.is equality\"|/p/a.test.ts:6:23|3 lines",
    ];
    check(TestFramework::Vitest, output, &expected, "");
    check(
        TestFramework::Vitest,
        "{\"testResults\": [}\n",
        &[],
        "the runner printed a report that cannot be read",
    );
}

#[test]
fn go_test_reports_events() {
    let output = r#"{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"example.com/sums"}
{"Action":"run","Package":"example.com/sums","Test":"TestAdd"}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd","Output":"=== RUN   TestAdd\n"}
{"Action":"run","Package":"example.com/sums","Test":"TestAdd/two_numbers"}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd/two_numbers","Output":"=== RUN   TestAdd/two_numbers\n"}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd/two_numbers","Output":"    sums_test.go:12: got 3\n"}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd/two_numbers","Output":"        want 4\n"}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd/two_numbers","Output":"    --- FAIL: TestAdd/two_numbers (0.00s)\n"}
{"Action":"fail","Package":"example.com/sums","Test":"TestAdd/two_numbers","Elapsed":0}
{"Action":"output","Package":"example.com/sums","Test":"TestAdd","Output":"--- FAIL: TestAdd (0.01s)\n"}
{"Action":"fail","Package":"example.com/sums","Test":"TestAdd","Elapsed":0.01}
{"Action":"run","Package":"example.com/sums","Test":"TestLater"}
{"Action":"output","Package":"example.com/sums","Test":"TestLater","Output":"    sums_test.go:20: not now\n"}
{"Action":"skip","Package":"example.com/sums","Test":"TestLater","Elapsed":0}
{"Action":"run","Package":"example.com/sums","Test":"TestPanics"}
{"Action":"output","Package":"example.com/sums","Test":"TestPanics","Output":"panic: no [recovered]\n"}
{"Action":"output","Package":"example.com/sums","Test":"TestPanics","Output":"\t/p/sums_test.go:25 +0x1d\n"}
{"Action":"output","Package":"example.com/sums","Output":"FAIL\texample.com/sums\t0.004s\n"}
{"Action":"fail","Package":"example.com/sums","Elapsed":0.004}
"#;
    let expected = [
        "example.com/sums|TestAdd|Running",
        "example.com/sums|TestAdd/two_numbers|Running",
        "example.com/sums|TestAdd/two_numbers|Failed|0ms|\"got 3\\nwant 4\"|sums_test.go:12|4 lines",
        "example.com/sums|TestAdd|Failed|10ms|2 lines",
        "example.com/sums|TestLater|Running",
        "example.com/sums|TestLater|Skipped|0ms|\"not now\"|sums_test.go:20|1 lines",
        "example.com/sums|TestPanics|Running",
        "example.com/sums|TestPanics|Failed|\"no [recovered]\"|/p/sums_test.go:25|2 lines",
    ];
    check(
        TestFramework::GoTest,
        output,
        &expected,
        "FAIL\\texample.com/sums\\t0.004s",
    );
}

#[test]
fn errors_of_the_go_compiler_are_the_tail() {
    let output = "# example.com/sums [example.com/sums.test]\n./sums_test.go:3:2: undefined: x\n{\"Action\":\"fail\",\"Package\":\"example.com/sums\",\"Elapsed\":0}\nFAIL\n";
    let tail = "# example.com/sums [example.com/sums.test]\n./sums_test.go:3:2: undefined: x\nFAIL";
    check(TestFramework::GoTest, output, &[], tail);
}

#[test]
fn colours_and_carriage_returns_are_removed() {
    let output = "\x1b[32mtest a ... ok\x1b[0m\r\n\x1b]0;title\x07test b ... FAILED\r\n";
    check(
        TestFramework::CargoTest,
        output,
        &["|a|Passed", "|b|Failed"],
        "",
    );
}

#[test]
fn hostile_output_is_bounded() {
    const ALL: [TestFramework; 6] = [
        TestFramework::CargoTest,
        TestFramework::Nextest,
        TestFramework::Pytest,
        TestFramework::Jest,
        TestFramework::Vitest,
        TestFramework::GoTest,
    ];
    let long_line = "x".repeat(4 << 20);
    let many_lines = "no report\n".repeat(100_000);
    let failure = format!(
        "test a ... FAILED\nfailures:\n---- a stdout ----\n{}\ntest result: FAILED\n",
        "output of the test\n".repeat(20_000)
    );
    let not_text = [0xff, 0xfe, b'\n', 0, b'{', b'\n', 0x1b, b'[', b'\n'].repeat(100);
    let braces = "{".repeat(200_000);
    let inputs: [&[u8]; 5] = [
        long_line.as_bytes(),
        many_lines.as_bytes(),
        failure.as_bytes(),
        &not_text,
        braces.as_bytes(),
    ];
    for framework in ALL {
        for input in inputs {
            let (reports, tail) = read(framework, input.chunks(60_000));
            assert!(tail.len() <= MAX_TAIL * (MAX_TAIL_LINE + 1));
            for report in reports {
                assert!(report.outcome.output.len() <= (64 << 10) + 100);
                assert!(report.outcome.message.len() <= 4 << 10);
            }
        }
    }
    let mut many = parser(TestFramework::CargoTest);
    let line = b"test a ... ok\n".repeat(1_000);
    let count: usize = (0..MAX_REPORTS / 1_000 + 5)
        .map(|_| many.feed(&line).len())
        .sum();
    assert_eq!(count, MAX_REPORTS);
}

#[test]
fn every_runner_has_a_parser() {
    let files = SampleFiles::new(&[("/p/go.mod", "module a\n")]);
    let project = files.project("/p/a_test.go").expect("a project");
    let mut parser = OutputParser::new(&project);
    let reports = parser.feed(b"{\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"TestA\"}\n");
    assert_eq!(reports[0].outcome.status, TestStatus::Passed);
}
