//! The built-in problem matchers, by the names that Visual Studio Code and its extensions use.
//!
//! Start at `matchers`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use crate::matcher::{
    BackgroundPattern, FileLocation, LinePattern, MatcherSyntax, PatternGroups, ProblemMatcher,
};
use crate::problem::{ColumnUnit, ProblemSeverity};

type MatchersByName = BTreeMap<&'static str, Vec<Arc<ProblemMatcher>>>;

static MATCHERS: LazyLock<MatchersByName> = LazyLock::new(all);

/// Returns the matchers with a name, such as `$rustc`; `None` if the name is not known.
pub(crate) fn matchers(name: &str) -> Option<Vec<Arc<ProblemMatcher>>> {
    MATCHERS.get(name).cloned()
}

/// Returns all names.
pub(crate) fn names() -> Vec<&'static str> {
    MATCHERS.keys().copied().collect()
}

/// Compiles a pattern of this file.
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern is valid")
}

/// Returns a pattern whose groups have the names of the parts.
fn line(pattern: &str) -> LinePattern {
    let regex = regex(pattern);
    let group = |name: &str| regex.capture_names().position(|it| it == Some(name));
    let groups = PatternGroups {
        file: group("file"),
        line: group("line"),
        column: group("column"),
        end_line: group("end_line"),
        end_column: group("end_column"),
        location: None,
        severity: group("severity"),
        code: group("code"),
        message: group("message"),
    };
    LinePattern {
        regex,
        groups,
        repeats: false,
    }
}

fn repeated(pattern: &str) -> LinePattern {
    LinePattern {
        repeats: true,
        ..line(pattern)
    }
}

/// Returns a matcher of errors in files whose folder is found.
fn matcher(source: &str, patterns: impl Into<Arc<[LinePattern]>>) -> ProblemMatcher {
    ProblemMatcher {
        source: Some(source.to_owned()),
        severity: ProblemSeverity::Error,
        location: FileLocation::AutoDetect,
        syntax: MatcherSyntax::Lines(patterns.into()),
        background: None,
        unit: ColumnUnit::Chars,
    }
}

fn counting(unit: ColumnUnit, matcher: ProblemMatcher) -> ProblemMatcher {
    ProblemMatcher { unit, ..matcher }
}

fn all() -> MatchersByName {
    let mut all = BTreeMap::new();
    let mut add = |name, matchers: Vec<ProblemMatcher>| {
        let matchers: Vec<_> = matchers.into_iter().map(Arc::new).collect();
        all.insert(name, matchers);
    };
    add("$rustc", rustc());
    add("$rust-panic", vec![rust_panic()]);
    add("$gcc", vec![gcc()]);
    add("$clang", vec![counting(ColumnUnit::Bytes, gcc())]);
    add("$cmake", vec![cmake()]);
    add("$tsc", tsc());
    add("$tsc-watch", tsc_watch());
    add("$eslint-stylish", vec![eslint_stylish()]);
    add("$eslint-compact", vec![eslint_compact()]);
    add("$jshint", vec![jshint()]);
    add("$go", vec![go()]);
    add("$python", vec![python(MatcherSyntax::PythonTraceback)]);
    add(
        "$pytest",
        vec![
            python(MatcherSyntax::Pytest),
            python(MatcherSyntax::PythonTraceback),
        ],
    );
    add("$msCompile", vec![ms_compile()]);
    add("$javac", vec![javac()]);
    add("$maven", vec![maven()]);
    add("$gradle", vec![javac(), kotlin()]);
    all
}

fn rustc() -> Vec<ProblemMatcher> {
    let head = r"^(?<severity>error|warning)(?:\[(?<code>[^\]]+)\])?: (?<message>.+)$";
    let place = r"^\s*--> (?<file>.+):(?<line>\d+):(?<column>\d+)$";
    let compiler = matcher("rustc", [line(head), line(place)]);
    vec![compiler, rust_panic()]
}

fn rust_panic() -> ProblemMatcher {
    // The message is in the next line.
    let head = r"^thread '.*'(?: \(\d+\))? panicked at (?<file>.+):(?<line>\d+):(?<column>\d+):$";
    matcher("rust", [line(head), line(r"^(?<message>.+)$")])
}

fn gcc() -> ProblemMatcher {
    let pattern = r"^(?<file>[^\s:][^:]*):(?<line>\d+):(?:(?<column>\d+):)?\s+(?:fatal\s+)?(?<severity>error|warning|note):\s+(?<message>.*?)(?:\s+\[(?<code>-W[^\]]+)\])?$";
    matcher("gcc", [line(pattern)])
}

fn cmake() -> ProblemMatcher {
    let head = r"^CMake (?<severity>Error|Warning)(?: \(dev\))? at (?<file>.+?):(?<line>\d+)(?: \(.*\))?:$";
    matcher("cmake", [line(head), line(r"^\s+(?<message>\S.*)$")])
}

fn tsc() -> Vec<ProblemMatcher> {
    let end = r"(?<severity>error|warning|info)\s+(?<code>TS\d+)\s*:\s*(?<message>.*)$";
    let plain = format!(
        r"^(?<file>\S.*?)\((?<line>\d+),(?<column>\d+)(?:,(?<end_line>\d+),(?<end_column>\d+))?\):\s+{end}"
    );
    let pretty = format!(r"^(?<file>[^\s:][^:]*):(?<line>\d+):(?<column>\d+)\s+-\s+{end}");
    [plain, pretty]
        .iter()
        .map(|pattern| counting(ColumnUnit::Utf16, matcher("tsc", [line(pattern)])))
        .collect()
}

fn tsc_watch() -> Vec<ProblemMatcher> {
    let background = || BackgroundPattern {
        begins: Some(regex(
            r"(?:Starting compilation in watch mode|File change detected\. Starting incremental compilation)\.\.\.\s*$",
        )),
        ends: Some(regex(
            r"Found \d+ errors?\. Watching for file changes\.\s*$",
        )),
    };
    let watching = tsc().into_iter().map(|matcher| ProblemMatcher {
        background: Some(background()),
        ..matcher
    });
    watching.collect()
}

fn eslint_stylish() -> ProblemMatcher {
    let patterns = [
        line(r"^(?<file>[^\s].*)$"),
        repeated(
            r"^\s+(?<line>\d+):(?<column>\d+)\s+(?<severity>error|warning|info)\s+(?<message>.+?)(?:\s\s+(?<code>\S+))?$",
        ),
    ];
    counting(ColumnUnit::Utf16, matcher("eslint", patterns))
}

fn eslint_compact() -> ProblemMatcher {
    let pattern = r"^(?<file>.+):\sline\s(?<line>\d+),\scol\s(?<column>\d+),\s(?<severity>Error|Warning|Info)\s-\s(?<message>.+?)(?:\s\((?<code>[^()\s]+)\))?$";
    counting(ColumnUnit::Utf16, matcher("eslint", [line(pattern)]))
}

fn jshint() -> ProblemMatcher {
    let pattern = r"^(?<file>.+):\s+line\s+(?<line>\d+),\s+col\s+(?<column>\d+),\s(?<message>.+?)(?:\s+\((?<code>(?<severity>\w)\d+)\))?$";
    counting(ColumnUnit::Utf16, matcher("jshint", [line(pattern)]))
}

fn go() -> ProblemMatcher {
    let pattern = r"^\s*(?:vet: )?(?<file>[^\s:][^:]*\.go):(?<line>\d+):(?:(?<column>\d+):)?\s+(?<message>.+)$";
    counting(ColumnUnit::Bytes, matcher("go", [line(pattern)]))
}

fn python(syntax: MatcherSyntax) -> ProblemMatcher {
    ProblemMatcher {
        syntax,
        ..matcher("python", Vec::new())
    }
}

fn ms_compile() -> ProblemMatcher {
    let pattern = r"^\s*(?<file>\S.*?)\((?<line>\d+)(?:,(?<column>\d+))?(?:,(?<end_line>\d+),(?<end_column>\d+))?\)\s*:\s*(?:\S+ )??(?<severity>error|warning|info)\s*(?<code>[A-Za-z]+\d+)?\s*:\s*(?<message>.*)$";
    counting(ColumnUnit::Utf16, matcher("msCompile", [line(pattern)]))
}

fn javac() -> ProblemMatcher {
    let pattern = r"^(?<file>[^\s:][^:]*\.java):(?<line>\d+): (?:(?<severity>error|warning): )(?<message>.+)$";
    matcher("javac", [line(pattern)])
}

fn maven() -> ProblemMatcher {
    let pattern = r"^\[(?<severity>ERROR|WARNING)\]\s+(?<file>[^\s:][^:]*):\[(?<line>\d+),(?<column>\d+)\]\s+(?<message>.+)$";
    matcher("maven", [line(pattern)])
}

fn kotlin() -> ProblemMatcher {
    let pattern = r"^(?<severity>[ew]): (?:file://)?(?<file>/[^:]+):(?<line>\d+):(?<column>\d+):? (?<message>.+)$";
    matcher("kotlin", [line(pattern)])
}

#[cfg(test)]
pub(crate) mod tests;
