//! Reads problem matchers, in the form of Visual Studio Code.

use std::sync::Arc;

use regex::Regex;

use super::FileReader;
use super::node::JsonNode;
use crate::builtin;
use crate::matcher::{
    BackgroundPattern, FileLocation, LinePattern, MatcherSyntax, PatternGroups, ProblemMatcher,
    compile,
};
use crate::problem::{ColumnUnit, ProblemSeverity};

/// Matchers of a task, at most.
const MAX_MATCHERS: usize = 8;
/// Lines of a pattern, at most.
const MAX_LINES: usize = 8;
/// Regular expressions of a file that are compiled, at most.
pub(super) const MAX_EXPRESSIONS: usize = 64;

impl FileReader<'_> {
    /// Reads the problem matchers of a task: names, objects, or a list of both.
    pub(super) fn read_matchers(&mut self, node: &JsonNode<'_>) -> Vec<Arc<ProblemMatcher>> {
        let mut matchers = Vec::new();
        let nodes = self.one_or_more(node, "problemMatcher");
        for matcher in nodes.iter().take(MAX_MATCHERS) {
            matchers.extend(self.read_matcher(matcher));
        }
        if nodes.len().max(matchers.len()) > MAX_MATCHERS {
            let message = format!("only the first {MAX_MATCHERS} matchers are used");
            self.problem(node, message);
            matchers.truncate(MAX_MATCHERS);
        }
        matchers
    }

    fn read_matcher(&mut self, node: &JsonNode<'_>) -> Vec<Arc<ProblemMatcher>> {
        if let Some(name) = node.as_text() {
            return self.named(node, name);
        }
        if !node.is_object() {
            self.problem(node, "a problem matcher is a name or an object");
            return Vec::new();
        }
        let base = match node.child("base") {
            Some(base) => self.named(&base, base.as_text().unwrap_or_default()),
            None => Vec::new(),
        };
        let patterns = self.read_patterns(node);
        let bases: Vec<ProblemMatcher> = match patterns {
            Some(patterns) => {
                let base = base.first().map(|base| (**base).clone());
                let mut matcher = base.unwrap_or_else(empty);
                matcher.syntax = MatcherSyntax::Lines(patterns);
                vec![matcher]
            }
            None if base.is_empty() => {
                if node.child("pattern").is_none() {
                    self.problem(node, "the matcher has no \"pattern\"");
                }
                return Vec::new();
            }
            None => base.iter().map(|base| (**base).clone()).collect(),
        };
        let matchers = bases.into_iter();
        matchers
            .map(|matcher| Arc::new(self.with_options(node, matcher)))
            .collect()
    }

    fn named(&mut self, node: &JsonNode<'_>, name: &str) -> Vec<Arc<ProblemMatcher>> {
        if name.is_empty() {
            return Vec::new();
        }
        builtin::matchers(name).unwrap_or_else(|| {
            let message = format!(
                "the problem matcher \"{name}\" is not known; known are {}",
                builtin::names().join(", ")
            );
            self.problem(node, message);
            Vec::new()
        })
    }

    fn with_options(&mut self, node: &JsonNode<'_>, mut matcher: ProblemMatcher) -> ProblemMatcher {
        let source = self.text(node, "source");
        let source = source.or_else(|| self.text(node, "owner"));
        matcher.source = source.or(matcher.source);
        if let Some(severity) = self.text(node, "severity") {
            let severity = ProblemSeverity::parse(&severity);
            matcher.severity = severity.unwrap_or(matcher.severity);
        }
        if let Some(location) = node.child("fileLocation") {
            matcher.location = self.read_location(&location);
        }
        let background = node.child("background").or_else(|| node.child("watching"));
        if let Some(background) = background {
            matcher.background = Some(self.read_background(&background));
        }
        matcher
    }

    fn read_location(&mut self, node: &JsonNode<'_>) -> FileLocation {
        let list = node.as_list().unwrap_or_else(|| vec![node.clone()]);
        let texts: Vec<Option<&str>> = list.iter().map(JsonNode::as_text).collect();
        match texts[..] {
            [Some("absolute")] => FileLocation::Absolute,
            [Some("relative")] => FileLocation::Relative(None),
            [Some("relative"), Some(base)] => {
                self.check_template(node, base);
                FileLocation::Relative(Some(base.to_owned()))
            }
            [Some("autoDetect"), ..] | [Some("search"), ..] => FileLocation::AutoDetect,
            _ => {
                let message = "\"fileLocation\" is \"absolute\", \"relative\" or \"autoDetect\"";
                self.problem(node, message);
                FileLocation::AutoDetect
            }
        }
    }

    fn read_background(&mut self, node: &JsonNode<'_>) -> BackgroundPattern {
        BackgroundPattern {
            begins: self.read_line_regex(node, "beginsPattern"),
            ends: self.read_line_regex(node, "endsPattern"),
        }
    }

    /// Reads a regular expression, or an object with one.
    fn read_line_regex(&mut self, node: &JsonNode<'_>, key: &str) -> Option<Regex> {
        let child = node.child(key)?;
        if child.is_object() {
            return self.read_regex(&child, "regexp");
        }
        self.read_regex(node, key)
    }

    fn read_regex(&mut self, node: &JsonNode<'_>, key: &str) -> Option<Regex> {
        let text = self.text(node, key)?;
        let at = node.child(key);
        if self.expressions >= MAX_EXPRESSIONS {
            let message = format!("only {MAX_EXPRESSIONS} regular expressions of a file are used");
            self.problem(at.as_ref().unwrap_or(node), message);
            return None;
        }
        self.expressions += 1;
        match compile(&text) {
            Ok(regex) => Some(regex),
            Err(error) => {
                self.problem(at.as_ref().unwrap_or(node), error.to_string());
                None
            }
        }
    }

    /// Reads the patterns of lines; `None` if there are none. A name gives the patterns of a built-in matcher.
    fn read_patterns(&mut self, node: &JsonNode<'_>) -> Option<Arc<[LinePattern]>> {
        let pattern = node.child("pattern")?;
        if let Some(name) = pattern.as_text() {
            let named = self.named(&pattern, name);
            return named.iter().find_map(|matcher| match &matcher.syntax {
                MatcherSyntax::Lines(patterns) => Some(patterns.clone()),
                _ => None,
            });
        }
        let nodes = self.one_or_more(node, "pattern");
        let mut patterns = Vec::new();
        for line in nodes.iter().take(MAX_LINES) {
            patterns.push(self.read_pattern(line, nodes.len() == 1)?);
        }
        if patterns.is_empty() {
            self.problem(&pattern, "\"pattern\" is empty");
            return None;
        }
        let last = patterns.len() - 1;
        for (ix, pattern) in patterns.iter_mut().enumerate() {
            pattern.repeats &= ix == last && ix > 0;
        }
        if !patterns.iter().any(|pattern| pattern.groups.file.is_some()) {
            self.problem(&pattern, "no part of \"pattern\" has a \"file\"");
        }
        Some(patterns.into())
    }

    fn read_pattern(&mut self, node: &JsonNode<'_>, is_single: bool) -> Option<LinePattern> {
        if node.child("regexp").is_none() {
            self.problem(node, "the pattern has no \"regexp\"");
            return None;
        }
        let regex = self.read_regex(node, "regexp")?;
        let mut groups = self.read_groups(node, &regex);
        if is_single {
            groups = with_defaults(groups, self.text(node, "kind").as_deref());
        }
        Some(LinePattern {
            regex,
            groups,
            repeats: self.flag(node, "loop"),
        })
    }

    fn read_groups(&mut self, node: &JsonNode<'_>, regex: &Regex) -> PatternGroups {
        let mut group = |key: &str| {
            let Some(child) = node.child(key) else {
                // A group of the expression may have the name of the part.
                return regex.capture_names().position(|name| name == Some(key));
            };
            let number = child.as_number().filter(|it| *it < regex.captures_len());
            if number.is_none() {
                let message = format!("\"{key}\" is not the number of a group");
                self.problem(&child, message);
            }
            number
        };
        PatternGroups {
            file: group("file"),
            line: group("line"),
            column: group("column"),
            end_line: group("endLine"),
            end_column: group("endColumn"),
            location: group("location"),
            severity: group("severity"),
            code: group("code"),
            message: group("message"),
        }
    }
}

/// Returns a matcher without patterns.
fn empty() -> ProblemMatcher {
    ProblemMatcher {
        source: None,
        severity: ProblemSeverity::Error,
        location: FileLocation::Relative(None),
        syntax: MatcherSyntax::Lines(Arc::from([])),
        background: None,
        unit: ColumnUnit::Utf16,
    }
}

/// Adds the groups that Visual Studio Code assumes for a single pattern.
fn with_defaults(groups: PatternGroups, kind: Option<&str>) -> PatternGroups {
    let has_place = groups.location.is_some() || groups.line.is_some() || kind == Some("file");
    let (line, column) = if has_place {
        (groups.line, groups.column)
    } else {
        (Some(2), groups.column.or(Some(3)))
    };
    PatternGroups {
        file: groups.file.or(Some(1)),
        line,
        column,
        message: groups.message.or(Some(0)),
        ..groups
    }
}
