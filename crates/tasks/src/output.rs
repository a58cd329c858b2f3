//! The problems in the output of a running task.
//!
//! Invariant: at most `MAX_PROBLEMS` problems are kept, and lines of more than `MAX_LINE` bytes are not searched.
//! Start at `TaskOutput::feed`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use host::{FileKind, Files};
use reduce::terminal_text::Cleaner;

use crate::matcher::{FileLocation, MatcherSyntax, PatternMatcher, ProblemMatcher};
use crate::problem::{ProblemRange, RawPlace, RawProblem, TaskProblem};
use crate::python::{PytestReport, Traceback};

/// Problems of a task that are kept, at most.
const MAX_PROBLEMS: usize = 5_000;
/// Length of a searched line in bytes, at most.
const MAX_LINE: usize = 4 << 10;
/// Length of a message in bytes, at most.
const MAX_MESSAGE: usize = 8 << 10;
/// Names of files whose paths are remembered, at most.
const MAX_PATHS: usize = 10_000;

/// Searches the output of a task for problems.
pub struct TaskOutput {
    cleaner: Cleaner,
    /// The line that is not complete.
    line: Vec<u8>,
    /// Whether the line was too long, so that its rest is skipped.
    is_skipping: bool,
    matchers: Vec<RunningMatcher>,
    paths: PathFinder,
    problems: Vec<TaskProblem>,
    known: HashSet<TaskProblem>,
    omitted: usize,
}

/// Changes that new output of a task causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputReport {
    /// Whether the list of problems changed.
    pub problems_changed: bool,
    /// Whether a round of a task that watches files ended.
    pub round_ended: bool,
}

struct RunningMatcher {
    matcher: Arc<ProblemMatcher>,
    state: MatcherState,
}

enum MatcherState {
    Lines(PatternMatcher),
    Traceback(Traceback),
    Pytest(PytestReport),
}

impl fmt::Debug for TaskOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskOutput")
            .field("problems", &self.problems.len())
            .finish_non_exhaustive()
    }
}

impl OutputReport {
    /// Adds the changes of later output.
    pub fn add(&mut self, other: Self) {
        self.problems_changed |= other.problems_changed;
        self.round_ended |= other.round_ended;
    }
}

impl TaskOutput {
    /// Creates the search in the output of a task that runs in `folder`, in the project `root`.
    pub fn new(
        matchers: &[Arc<ProblemMatcher>],
        folder: &AbsPath,
        root: &AbsPath,
        files: Arc<dyn Files>,
    ) -> Self {
        let matchers = matchers.iter().map(|matcher| RunningMatcher {
            matcher: Arc::clone(matcher),
            state: match &matcher.syntax {
                MatcherSyntax::Lines(patterns) => {
                    MatcherState::Lines(PatternMatcher::new(Arc::clone(patterns)))
                }
                MatcherSyntax::PythonTraceback => MatcherState::Traceback(Traceback::default()),
                MatcherSyntax::Pytest => MatcherState::Pytest(PytestReport::default()),
            },
        });
        Self {
            cleaner: Cleaner::default(),
            line: Vec::new(),
            is_skipping: false,
            matchers: matchers.collect(),
            paths: PathFinder::new(folder, root, files),
            problems: Vec::new(),
            known: HashSet::new(),
            omitted: 0,
        }
    }

    /// Returns the problems in the order of the output.
    pub fn problems(&self) -> &[TaskProblem] {
        &self.problems
    }

    /// Returns the number of problems beyond the limit.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Takes a chunk of output as a terminal gets it; it may end anywhere. Blocks on the disk: the files of problems are
    /// looked up.
    pub fn feed(&mut self, bytes: &[u8]) -> OutputReport {
        if self.matchers.is_empty() {
            return OutputReport::default();
        }
        let mut clean = Vec::with_capacity(bytes.len());
        self.cleaner.feed(bytes, &mut clean);
        self.feed_clean(&clean)
    }

    /// Takes the last line, which may be incomplete. Call it when the task ended.
    pub fn finish(&mut self) -> OutputReport {
        let mut clean = Vec::new();
        self.cleaner.flush(&mut clean);
        clean.push(b'\n');
        self.feed_clean(&clean)
    }

    fn feed_clean(&mut self, mut clean: &[u8]) -> OutputReport {
        let mut report = OutputReport::default();
        while let Some(end) = clean.iter().position(|byte| *byte == b'\n') {
            self.extend_line(&clean[..end]);
            clean = &clean[end + 1..];
            let line = std::mem::take(&mut self.line);
            if !std::mem::take(&mut self.is_skipping) {
                report.add(self.take_line(&String::from_utf8_lossy(&line)));
            }
        }
        self.extend_line(clean);
        report
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.is_skipping |= self.line.len() + bytes.len() > MAX_LINE;
        if self.is_skipping {
            self.line.clear();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn take_line(&mut self, line: &str) -> OutputReport {
        let mut report = OutputReport::default();
        let mut found = Vec::new();
        for ix in 0..self.matchers.len() {
            report.add(self.follow_round(ix, line));
            let RunningMatcher { matcher, state } = &mut self.matchers[ix];
            match state {
                MatcherState::Lines(state) => state.feed(line, &mut found),
                MatcherState::Traceback(state) => state.feed(line, &mut found),
                MatcherState::Pytest(state) => state.feed(line, &mut found),
            }
            let matcher = Arc::clone(matcher);
            for raw in found.drain(..) {
                report.problems_changed |= self.add(raw, &matcher);
            }
        }
        report
    }

    /// Follows the rounds of a task that watches files: the problems of the last round end with the next one.
    fn follow_round(&mut self, ix: usize, line: &str) -> OutputReport {
        let mut report = OutputReport::default();
        let Some(background) = &self.matchers[ix].matcher.background else {
            return report;
        };
        let matches =
            |regex: &Option<regex::Regex>| regex.as_ref().is_some_and(|it| it.is_match(line));
        report.round_ended = matches(&background.ends);
        if matches(&background.begins) {
            report.problems_changed = !self.problems.is_empty();
            self.problems.clear();
            self.known.clear();
            self.omitted = 0;
        }
        report
    }

    /// Adds a problem; returns false if it is known, or about no file of the project.
    fn add(&mut self, raw: RawProblem, matcher: &ProblemMatcher) -> bool {
        let paths = &mut self.paths;
        let mut places = raw.places.iter();
        let found = places.find_map(|place| Some((paths.find(place, &matcher.location)?, place)));
        let Some((path, place)) = found else {
            return false;
        };
        let mut message = raw.message;
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        let problem = TaskProblem {
            path,
            range: ProblemRange {
                start: place.start,
                end: place.end,
                unit: matcher.unit,
            },
            severity: raw.severity.unwrap_or(matcher.severity),
            message,
            code: raw.code,
            source: matcher.source.clone(),
        };
        if self.known.contains(&problem) {
            return false;
        }
        if self.problems.len() >= MAX_PROBLEMS {
            self.omitted += 1;
            return false;
        }
        self.known.insert(problem.clone());
        self.problems.push(problem);
        true
    }
}

/// Finds the files that tools name.
struct PathFinder {
    folder: AbsPath,
    root: AbsPath,
    files: Arc<dyn Files>,
    /// The results by name and base.
    known: HashMap<(String, Option<String>), Option<AbsPath>>,
}

impl PathFinder {
    fn new(folder: &AbsPath, root: &AbsPath, files: Arc<dyn Files>) -> Self {
        Self {
            folder: folder.clone(),
            root: root.clone(),
            files,
            known: HashMap::new(),
        }
    }

    /// Returns the file of a place, if it is one of the project.
    fn find(&mut self, place: &RawPlace, location: &FileLocation) -> Option<AbsPath> {
        let base = match location {
            FileLocation::Relative(base) => base.clone(),
            FileLocation::Absolute | FileLocation::AutoDetect => None,
        };
        let key = (place.file.clone(), base);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.search(&place.file, key.1.as_deref());
        if self.known.len() >= MAX_PATHS {
            self.known.clear();
        }
        self.known.insert(key, found.clone());
        found
    }

    fn search(&self, file: &str, base: Option<&str>) -> Option<AbsPath> {
        let file = file.strip_prefix("file://").unwrap_or(file);
        let base = base.map(|base| self.base(base));
        let mut folders: Vec<AbsPath> = base.into_iter().collect();
        let mut next = Some(self.folder.clone());
        while let Some(folder) = next.filter(|folder| folder.is_within(&self.root)) {
            next = folder.parent();
            folders.push(folder);
        }
        folders.push(self.root.clone());
        let mut paths = folders.iter().map(|folder| folder.join(file));
        paths.find(|path| path.is_within(&self.root) && self.is_file(path))
    }

    /// Returns the folder that a matcher names, in which only the folder of the project is known as a variable.
    fn base(&self, base: &str) -> AbsPath {
        let mut text = base.to_owned();
        for variable in ["${workspaceFolder}/", "${workspaceRoot}/", "${cwd}/"] {
            text = text.replace(variable, "");
        }
        for variable in ["${workspaceFolder}", "${workspaceRoot}", "${cwd}"] {
            text = text.replace(variable, "");
        }
        self.root.join(text)
    }

    fn is_file(&self, path: &AbsPath) -> bool {
        let stat = self.files.stat(path);
        stat.is_ok_and(|stat| stat.kind == FileKind::File)
    }
}

#[cfg(test)]
mod tests;
