//! The output of real tools, as they print it, with the problems in it.

use std::sync::Arc;

use base::AbsPath;
use host::FakeFiles;

use super::{matchers, names};
use crate::output::TaskOutput;
use crate::problem::{ProblemSeverity, TaskProblem};

const FILES: [&str; 12] = [
    "src/main.rs",
    "src/lib.rs",
    "src/a.c",
    "src/a.h",
    "src/app/(home)/page.ts",
    "web/a.js",
    "main.go",
    "pkg/b.go",
    "main_test.go",
    "tests/test_a.py",
    "src/A.java",
    "CMakeLists.txt",
];

/// Creates the search with a matcher in a project with the files.
pub(crate) fn search(name: &str) -> TaskOutput {
    let path = |path: &str| AbsPath::new(path).expect("absolute");
    let files = FakeFiles::new();
    for file in FILES {
        files.write(&path("/p").join(file), "");
    }
    let matchers = matchers(name).expect("a matcher");
    TaskOutput::new(&matchers, &path("/p"), &path("/p"), Arc::new(files))
}

fn shown(problem: &TaskProblem) -> String {
    let root = AbsPath::new("/p").expect("absolute");
    let path = problem.path.relative_to(&root).expect("in the project");
    let position = |line: u32, column: Option<u32>| match column {
        Some(column) => format!("{}:{}", line + 1, column + 1),
        None => (line + 1).to_string(),
    };
    let range = problem.range;
    let end = range.end.map(|end| position(end.line, end.column));
    let end = end.map_or_else(String::new, |end| format!("-{end}"));
    let start = position(range.start.line, range.start.column);
    let severity = match problem.severity {
        ProblemSeverity::Error => "error",
        ProblemSeverity::Warning => "warning",
        ProblemSeverity::Information => "information",
    };
    let code = problem.code.as_ref().map(|code| format!(" [{code}]"));
    format!(
        "{}:{start}{end} {severity}{} {}",
        path.display(),
        code.unwrap_or_default(),
        problem.message
    )
}

/// Checks the problems in an output, also if it arrives byte by byte, or with the line ends of a terminal.
#[track_caller]
fn check(name: &str, output: &str, expected: &[&str]) {
    let terminal = output.replace('\n', "\r\n");
    for (text, size) in [
        (output, usize::MAX),
        (terminal.as_str(), 7),
        (terminal.as_str(), 1),
    ] {
        let mut search = search(name);
        for chunk in text.as_bytes().chunks(size) {
            search.feed(chunk);
        }
        search.finish();
        let found: Vec<String> = search.problems().iter().map(shown).collect();
        assert_eq!(found, expected, "{name} by {size}");
    }
}

#[test]
fn rustc_errors_have_code_and_column() {
    check(
        "$rustc",
        "   Compiling a v0.1.0 (/p)
\x1b[0m\x1b[1m\x1b[33mwarning\x1b[0m\x1b[0m\x1b[1m: unused variable: `x`\x1b[0m
 \x1b[0m\x1b[0m\x1b[1m\x1b[38;5;12m--> \x1b[0m\x1b[0msrc/lib.rs:2:9\x1b[0m
  |
2 |     let x = 1;
  |         ^ help: if this is intentional, prefix it with an underscore: `_x`
  |
  = note: `#[warn(unused_variables)]` on by default

error[E0308]: mismatched types
   --> src/main.rs:10:18
    |
10  |     let a: i32 = \"x\";
    |            ---   ^^^ expected `i32`, found `&str`
    |            |
    |            expected due to this

error: expected one of `!` or `::`, found `{`
 --> src/none.rs:1:1

error: aborting due to 2 previous errors; 1 warning emitted

For more information about this error, try `rustc --explain E0308`.
error: could not compile `a` (bin \"a\") due to 2 previous errors; 1 warning emitted
",
        &[
            "src/lib.rs:2:9 warning unused variable: `x`",
            "src/main.rs:10:18 error [E0308] mismatched types",
        ],
    );
}

#[test]
fn panics_of_rust_have_their_message() {
    check(
        "$rustc",
        "running 1 test
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----

thread 'tests::adds' panicked at src/lib.rs:14:9:
assertion `left == right` failed
  left: 4
 right: 5
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
thread 'main' (4711) panicked at /p/src/main.rs:3:5:
explicit panic
",
        &[
            "src/lib.rs:14:9 error assertion `left == right` failed",
            "src/main.rs:3:5 error explicit panic",
        ],
    );
}

#[test]
fn gcc_errors_warnings_and_notes_are_found() {
    check(
        "$gcc",
        "make: Entering directory '/p'
cc -c -o a.o src/a.c
In file included from src/a.c:1:
src/a.h:4:10: fatal error: none.h: No such file or directory
    4 | #include \"none.h\"
      |          ^~~~~~~~
compilation terminated.
src/a.c: In function ‘main’:
src/a.c:5:12: error: ‘y’ undeclared (first use in this function)
    5 |     return y;
      |            ^
src/a.c:5:12: note: each undeclared identifier is reported only once for each function it appears in
src/a.c:3:9: warning: unused variable ‘x’ [-Wunused-variable]
make: *** [Makefile:2: a.o] Error 1
",
        &[
            "src/a.h:4:10 error none.h: No such file or directory",
            "src/a.c:5:12 error ‘y’ undeclared (first use in this function)",
            "src/a.c:5:12 information each undeclared identifier is reported only once for each function it appears in",
            "src/a.c:3:9 warning [-Wunused-variable] unused variable ‘x’",
        ],
    );
}

#[test]
fn typescript_is_found_in_both_forms() {
    check(
        "$tsc",
        "src/app/(home)/page.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.
web/a.js:12:3 - error TS2304: Cannot find name 'x'.

12   x;
     ~

error TS5023: Unknown compiler option 'y'.
Found 1 error in web/a.js:12
",
        &[
            "src/app/(home)/page.ts:3:7 error [TS2322] Type 'string' is not assignable to type 'number'.",
            "web/a.js:12:3 error [TS2304] Cannot find name 'x'.",
        ],
    );
}

#[test]
fn a_new_round_of_typescript_replaces_the_problems() {
    let mut search = search("$tsc-watch");
    let begin = "[10:00:00] Starting compilation in watch mode...\n\n";
    let problem = "web/a.js(1,1): error TS1: a\n\n";
    let end = "[10:00:02] Found 1 error. Watching for file changes.\n";
    assert!(!search.feed(begin.as_bytes()).round_ended);
    assert!(search.feed(problem.as_bytes()).problems_changed);
    assert!(search.feed(end.as_bytes()).round_ended);
    assert_eq!(search.problems().len(), 1);
    let again = "[10:01:00] File change detected. Starting incremental compilation...\n";
    assert!(search.feed(again.as_bytes()).problems_changed);
    assert!(search.problems().is_empty());
}

#[test]
fn eslint_is_found_in_both_forms() {
    check(
        "$eslint-stylish",
        "
/p/web/a.js
  1:10  error    'x' is defined but never used     no-unused-vars
  2:1   warning  Unexpected console statement      no-console
  3:1   error    Parsing error: Unexpected token

/p/web/none.js
  1:1  error  a  b

\u{2716} 3 problems (2 errors, 1 warning)
",
        &[
            "web/a.js:1:10 error [no-unused-vars] 'x' is defined but never used",
            "web/a.js:2:1 warning [no-console] Unexpected console statement",
            "web/a.js:3:1 error Parsing error: Unexpected token",
        ],
    );
    check(
        "$eslint-compact",
        "/p/web/a.js: line 1, col 10, Error - 'x' is defined but never used. (no-unused-vars)\n\n1 problem\n",
        &["web/a.js:1:10 error [no-unused-vars] 'x' is defined but never used."],
    );
    check(
        "$jshint",
        "web/a.js: line 3, col 5, Missing semicolon. (W033)\n",
        &["web/a.js:3:5 warning [W033] Missing semicolon."],
    );
}

#[test]
fn go_is_found_in_builds_vets_and_tests() {
    check(
        "$go",
        "# example.com/p
./main.go:4:2: undefined: x
pkg/b.go:7:15: cannot use \"a\" (untyped string constant) as int value in return statement
vet: ./main.go:9:1: expected declaration
--- FAIL: TestAdd (0.00s)
    main_test.go:6: got 3, want 4
FAIL
exit status 1
FAIL\texample.com/p\t0.002s
",
        &[
            "main.go:4:2 error undefined: x",
            "pkg/b.go:7:15 error cannot use \"a\" (untyped string constant) as int value in return statement",
            "main.go:9:1 error expected declaration",
            "main_test.go:6 error got 3, want 4",
        ],
    );
}

#[test]
fn pytest_and_stacks_of_python_are_found() {
    check(
        "$pytest",
        "_____ test_a _____

    def test_a():
>       assert 1 == 2
E       assert 1 == 2

tests/test_a.py:4: AssertionError
Traceback (most recent call last):
  File \"/p/tests/test_a.py\", line 9, in <module>
    json.loads('x')
  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
",
        &[
            "tests/test_a.py:4 error assert 1 == 2",
            "tests/test_a.py:9 error json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        ],
    );
}

#[test]
fn other_compilers_are_found() {
    check(
        "$msCompile",
        "src\\..\\none.cs(1,1): error CS1: x\nsrc/a.c(12,5,12,9): warning CS0168: The variable 'e' is declared but never used [/p/a.csproj]\n\
         src/a.c(3): error C2065: 'y': undeclared identifier\n",
        &[
            "src/a.c:12:5-12:9 warning [CS0168] The variable 'e' is declared but never used [/p/a.csproj]",
            "src/a.c:3 error [C2065] 'y': undeclared identifier",
        ],
    );
    check(
        "$gradle",
        "/p/src/A.java:3: error: ';' expected\n    int x\n         ^\ne: file:///p/src/A.java:5:1 Unresolved reference: y\n",
        &[
            "src/A.java:3 error ';' expected",
            "src/A.java:5:1 error Unresolved reference: y",
        ],
    );
    check(
        "$maven",
        "[INFO] Compiling 1 source file\n[ERROR] /p/src/A.java:[3,5] ';' expected\n[ERROR] Failed to execute goal\n",
        &["src/A.java:3:5 error ';' expected"],
    );
    check(
        "$cmake",
        "CMake Error at CMakeLists.txt:3 (add_executable):\n  Cannot find source file:\n\n    none.c\n",
        &["CMakeLists.txt:3 error Cannot find source file:"],
    );
}

#[test]
fn every_name_has_matchers() {
    assert!(names().len() >= 15);
    for name in names() {
        assert!(matchers(name).is_some_and(|it| !it.is_empty()), "{name}");
    }
    assert!(matchers("rustc").is_none());
}
