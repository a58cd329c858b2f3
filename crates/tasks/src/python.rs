//! Problems of Python: stacks of calls, and the failures that pytest prints.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::problem::{ProblemPosition, RawPlace, RawProblem};

/// Calls of a stack that are remembered, at most.
const MAX_CALLS: usize = 100;

/// Compiles a pattern of this file.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern is valid")
}

static CALL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^\s+File "(.+)", line (\d+)(?:, in .*)?$"#));
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt|Warning|Failure)(?:: .*)?$")
});
static STEP: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\S.*\.py):(\d+): in .+$"));
static END: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\S.*\.py):(\d+): (\S.*)$"));
static REASON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^E\s+(\S.*)$"));

/// The state of a stack of calls.
#[derive(Debug, Default)]
pub(crate) struct Traceback {
    /// The calls, the innermost last.
    calls: Vec<RawPlace>,
    /// Whether the header of a stack was read. A syntax error has no header.
    has_header: bool,
}

impl Traceback {
    /// Takes a line and appends the problem that it completes.
    pub(crate) fn feed(&mut self, line: &str, found: &mut Vec<RawProblem>) {
        if line.trim_end() == "Traceback (most recent call last):" {
            self.calls.clear();
            self.has_header = true;
        } else if let Some(captures) = CALL.captures(line) {
            if self.calls.len() == MAX_CALLS {
                self.calls.remove(0);
            }
            self.calls.extend(place(&captures));
        } else if !self.calls.is_empty() && !line.starts_with(char::is_whitespace) {
            let mut places = std::mem::take(&mut self.calls);
            let is_error = std::mem::take(&mut self.has_header) && !line.trim().is_empty();
            if is_error || ERROR.is_match(line) {
                // The innermost call in the project counts.
                places.reverse();
                found.push(problem(places, line.trim()));
            }
        }
    }
}

/// The state of the report of pytest.
#[derive(Debug, Default)]
pub(crate) struct PytestReport {
    /// The first line of the reason, which comes before or after the place.
    reason: Option<String>,
    /// The innermost call of a short stack.
    call: Option<RawPlace>,
}

impl PytestReport {
    /// Takes a line and appends the problem that it completes.
    pub(crate) fn feed(&mut self, line: &str, found: &mut Vec<RawProblem>) {
        if let Some(captures) = REASON.captures(line) {
            let reason = captures[1].trim_end();
            match self.call.take() {
                Some(call) => found.push(problem(vec![call], reason)),
                None if self.reason.is_none() => self.reason = Some(reason.to_owned()),
                None => {}
            }
        } else if let Some(captures) = STEP.captures(line) {
            self.call = place(&captures);
        } else if let Some(captures) = END.captures(line) {
            let kind = captures[3].trim_end();
            if let Some(reason) = self.reason.take() {
                let places = place(&captures).into_iter().collect();
                let is_named = reason.starts_with(kind) || reason.starts_with("assert");
                let message = if is_named {
                    reason
                } else {
                    format!("{kind}: {reason}")
                };
                found.push(problem(places, &message));
            }
        } else if line.starts_with("___") || line.starts_with("===") {
            // The report of another test begins.
            *self = Self::default();
        }
    }
}

fn problem(places: Vec<RawPlace>, message: &str) -> RawProblem {
    RawProblem {
        places,
        severity: None,
        message: message.to_owned(),
        code: None,
    }
}

/// Returns the place of a file and a line, the first two groups.
fn place(captures: &Captures<'_>) -> Option<RawPlace> {
    let line: u32 = captures[2].parse().ok()?;
    Some(RawPlace {
        file: captures[1].to_owned(),
        start: ProblemPosition {
            line: line.saturating_sub(1),
            column: None,
        },
        end: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{PytestReport, Traceback};
    use crate::problem::RawProblem;

    fn shown(problem: &RawProblem) -> String {
        let places = problem.places.iter();
        let places: Vec<String> = places
            .map(|place| format!("{}:{}", place.file, place.start.line + 1))
            .collect();
        format!("{} {}", places.join(" < "), problem.message)
    }

    fn found(text: &str, mut feed: impl FnMut(&str, &mut Vec<RawProblem>)) -> Vec<String> {
        let mut found = Vec::new();
        text.lines().for_each(|line| feed(line, &mut found));
        found.iter().map(shown).collect()
    }

    #[test]
    fn stacks_name_their_innermost_call_first() {
        let text = "Traceback (most recent call last):\n  File \"/p/a.py\", line 9, in <module>\n    main()\n  \
                    File \"/p/lib/b.py\", line 4, in main\n    return 1 / 0\n           ~~^~~\n\
                    ZeroDivisionError: division by zero\n\
                    \n  File \"bad.py\", line 2\n    x = (\n        ^\nSyntaxError: '(' was never closed\n";
        let mut traceback = Traceback::default();
        let found = found(text, |line, found| traceback.feed(line, found));
        assert_eq!(
            found,
            [
                "/p/lib/b.py:4 < /p/a.py:9 ZeroDivisionError: division by zero",
                "bad.py:2 SyntaxError: '(' was never closed",
            ]
        );
    }

    #[test]
    fn pytest_prints_reasons_before_and_after_places() {
        let long = "=================================== FAILURES ===================================\n\
                    ___________________________________ test_a ____________________________________\n\
                    \n    def test_a():\n>       assert add(1, 2) == 4\nE       assert 3 == 4\n\
                    E        +  where 3 = add(1, 2)\n\ntests/test_a.py:5: AssertionError\n\
                    ___________________________________ test_b ____________________________________\n\
                    \n    def test_b():\n>       open('no')\nE       FileNotFoundError: [Errno 2] No such file or directory: 'no'\n\
                    \ntests/test_a.py:9: FileNotFoundError\n\
                    =========================== short test summary info ============================\n\
                    FAILED tests/test_a.py::test_a - assert 3 == 4\n";
        let short = "____________________________ ERROR collecting test_c.py ____________________________\n\
                     ImportError while importing test module '/p/test_c.py'.\n\
                     Traceback:\n/usr/lib/python3.11/importlib/__init__.py:126: in import_module\n    \
                     return _bootstrap._gcd_import(name[level:], package, level)\n\
                     test_c.py:1: in <module>\n    import nothing\n\
                     E   ModuleNotFoundError: No module named 'nothing'\n";
        let mut report = PytestReport::default();
        let mut feed = |line: &str, found: &mut Vec<RawProblem>| report.feed(line, found);
        assert_eq!(
            found(long, &mut feed),
            [
                "tests/test_a.py:5 assert 3 == 4",
                "tests/test_a.py:9 FileNotFoundError: [Errno 2] No such file or directory: 'no'",
            ]
        );
        assert_eq!(
            found(short, &mut feed),
            ["test_c.py:1 ModuleNotFoundError: No module named 'nothing'"]
        );
    }
}
