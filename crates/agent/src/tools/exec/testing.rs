//! `run_tests`: runs tests with the runner of their project, and answers with the failed ones.
//!
//! The command is one that `exec_command` could run: the same sandbox, the same rules, the same questions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, path_text};
use futures::future::BoxFuture;
use host::process::ExitReport;
use host::{FileKind, Files};
use model::{Profile, ToolSpec};
use project::ManifestReader;
use test_runner::{
    OutputParser, ReportedTest, TestCommand, TestId, TestItem, TestKind, TestOutcome, TestProject,
    TestReport, TestStatus, TestTarget, discover_in_text,
};

use crate::error::sentence;
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};

use super::super::arguments::CallArguments;
use super::super::paths::{ToolPath, missing, resolve};
use super::super::terminal::CommandTerminal;
use super::super::{ToolOptions, files_of, of, spec, unexpected};
use super::sandbox::RunMode;
use super::{ExecCommandTool, ExecRequest, LONGEST, WaitOutcome};

/// Maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of failed tests that are described.
const MAX_FAILED: usize = 15;
/// Maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 600;
/// Maximum length of the output of a test, in bytes; its end is shown.
const MAX_OUTPUT: usize = 1_000;
/// Maximum number of names of tests in a sentence.
const MAX_NAMES: usize = 20;

/// The tool that runs tests.
pub(in crate::tools) struct RunTestsTool {
    pub(in crate::tools) options: Arc<ToolOptions>,
}

/// The command of a call, with the project whose runner it starts.
struct PlannedTests {
    project: TestProject,
    request: ExecRequest,
}

/// Reads manifests below the root without following links.
struct ToolManifests(Arc<dyn Files>);

impl ManifestReader for ToolManifests {
    fn read(&self, path: &AbsPath) -> Option<String> {
        let bytes = self.0.read(path, MAX_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn exists(&self, path: &AbsPath) -> bool {
        self.0.exists(path)
    }
}

impl Tool for RunTestsTool {
    fn name(&self) -> &str {
        "run_tests"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Runs tests with the runner of their project (cargo test or nextest, pytest, Jest, Vitest, go test) and answers with their number and with the message, place and output of each failed one. Shorter than the output of the runner itself.";
        Some(spec(
            "run_tests",
            profile,
            description,
            0,
            &[
                (
                    "path",
                    of(
                        "string",
                        "A file or folder with tests; the project if omitted",
                    ),
                ),
                (
                    "name",
                    of("string", "A part of the names of the tests to run"),
                ),
                (
                    "timeout_ms",
                    of("integer", "Timeout after which they are ended"),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let request = PlannedTests::of(call, context)?.request;
        Ok(ToolAccess {
            writes: vec![LockScope::Tree(String::new())],
            sandbox_scope: super::sandbox::sandbox_scope(context),
            title: request.title(),
            command: Some(request.command),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.try_run(call, access, context).await {
                Ok(answer) | Err(answer) => answer,
            }
        })
    }
}

impl RunTestsTool {
    /// Runs the tests to their end, again if the user widens their sandbox. `Err` is the result of a call that was not run.
    async fn try_run(
        &self,
        call: &ToolCall,
        access: &ToolAccess,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolResult> {
        let planned = PlannedTests::of(call, context)?;
        let request = &planned.request;
        if access.command.as_ref() != Some(&request.command) {
            let text =
                "The files that describe the project changed meanwhile; call run_tests again.";
            return Err(unexpected(text));
        }
        if *context.stop.borrow() {
            return Err(super::super::edit::stopped());
        }
        let exec = ExecCommandTool {
            options: Arc::clone(&self.options),
        };
        let state = self.options.states.of(context);
        let folder = super::workdir(context, request)?;
        let mut mode = RunMode::of(context, request);
        loop {
            let bounds = mode.bounds(context, request).await?;
            let feed = exec.open_feed(call, context, request, &folder, mode.label());
            let launch = exec.launch(request, folder.clone(), bounds);
            let terminal = super::start(launch, context, &state, request, feed)?;
            let terminal = Arc::new(terminal);
            let over = super::watch(context, &terminal, request.wait, request.limit).await;
            if let WaitOutcome::Ended(ended) = over
                && mode.widened(context, request, &terminal, ended).await
            {
                continue;
            }
            return Ok(match over {
                WaitOutcome::Ended(ended) => {
                    terminal.mark_reported();
                    planned.result(context, &terminal, ended)
                }
                WaitOutcome::Late | WaitOutcome::Yielded => {
                    super::terminate(&terminal).await;
                    super::late(context, &terminal, request)
                }
                WaitOutcome::Stopped => {
                    super::terminate(&terminal).await;
                    super::aborted(context, &terminal, request.tokens)
                }
            });
        }
    }
}

impl PlannedTests {
    /// Parses the arguments of a call and finds the tests that they mean. Fails with the result of the call.
    fn of(call: &ToolCall, context: &ToolContext) -> Result<Self, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let path = arguments.text("path")?.unwrap_or(".");
        let name = arguments.text("name")?.map(str::trim);
        let name = name.filter(|name| !name.is_empty());
        let limit = arguments.number("timeout_ms")?.filter(|limit| *limit > 0);
        let limit = limit.unwrap_or(LONGEST).min(LONGEST);
        let place = resolve(context, path)?;
        if !place.is_inside {
            let text = format!("{path} is outside the project; name a file or folder below it.");
            return Err(unexpected(text));
        }
        let reader = ToolManifests(files_of(context));
        let (project, command) = match context.sources.files.stat(&place.path) {
            Ok(stat) if stat.kind == FileKind::Folder => of_folder(context, &place, name, &reader)?,
            Ok(_) => of_file(context, &place, name, &reader)?,
            Err(error) if error.is_not_found() => return Err(missing(context, &place)),
            Err(error) => return Err(unexpected(sentence(&error))),
        };
        let words = std::iter::once(&command.program).chain(&command.arguments);
        let words: Vec<String> = words.map(|word| super::quoted(word)).collect();
        let workdir = command.folder.relative_to(&context.root).map(path_text);
        let request = ExecRequest {
            command: words.join(" "),
            workdir: workdir.filter(|workdir| !workdir.is_empty()),
            has_screen: false,
            // A command that is still running at its limit is ended first.
            wait: Duration::from_millis(limit.saturating_add(1000)),
            limit: Some(Duration::from_millis(limit)),
            tokens: None,
            is_background: false,
        };
        Ok(Self { project, request })
    }

    /// Returns the result of a command that ended.
    fn result(
        &self,
        context: &ToolContext,
        terminal: &CommandTerminal,
        ended: ExitReport,
    ) -> ToolResult {
        let printed = terminal.fresh();
        let mut parser = OutputParser::new(&self.project);
        let mut reports = parser.feed(printed.text.as_bytes());
        reports.extend(parser.finish());
        let outcomes = merged(reports);
        let mut text = summary(&self.project, &outcomes);
        for (test, outcome) in failed(&outcomes).take(MAX_FAILED) {
            describe(&mut text, test, outcome);
        }
        let more = failed(&outcomes).count().saturating_sub(MAX_FAILED);
        if more > 0 {
            text.push_str(&format!("\n(and {more} more failed tests)\n"));
        }
        let (code, how) = super::exit_line(context, terminal, ended);
        let has_failed = failed(&outcomes).next().is_some();
        if code != 0 && !has_failed {
            text.push_str(&parser.tail());
            text.push('\n');
        }
        if printed.lost > 0 {
            let lost = printed.lost;
            text.push_str(&format!("({lost} lines of the output were not read)\n"));
        }
        let refusal = super::sandbox::refusal(terminal);
        let kept = refusal.as_ref().map(|(line, _)| format!("; {line}"));
        text.push_str(&format!("[{how}{}]", kept.unwrap_or_default()));
        let display = ToolDisplay::Command {
            command: terminal.command.clone(),
            code: Some(code),
            output: text.clone(),
        };
        let answer = match refusal {
            Some((_, detail)) if code != 0 && outcomes.is_empty() => {
                unexpected(text).with_detail(detail)
            }
            _ => ToolResult::ok(text),
        };
        super::sandbox::with_planted(answer.with_display(display), terminal)
    }
}

/// Returns the command for the tests in a folder.
fn of_folder(
    context: &ToolContext,
    place: &ToolPath,
    name: Option<&str>,
    reader: &ToolManifests,
) -> Result<(TestProject, TestCommand), ToolResult> {
    let project = TestProject::of_folder(&place.path, &context.root, reader);
    let project = project.ok_or_else(|| no_runner(place))?;
    let command = project.folder_command(&place.path, name);
    Ok((project, command))
}

/// Returns the command for the tests of a file, or those of them that have a name.
fn of_file(
    context: &ToolContext,
    place: &ToolPath,
    name: Option<&str>,
    reader: &ToolManifests,
) -> Result<(TestProject, TestCommand), ToolResult> {
    let project = TestProject::of_file(&place.path, &context.root, reader);
    let project = project.ok_or_else(|| no_runner(place))?;
    let text = reader.read(&place.path).unwrap_or_default();
    let items = discover_in_text(&text, &place.path, project.framework);
    if items.is_empty() {
        let text = format!(
            "There are no tests in {}; name a file with tests, or leave out `path`.",
            place.name()
        );
        return Err(unexpected(text));
    }
    let targets = match name {
        None => vec![TestTarget {
            id: TestId::of_file(&place.path),
            kind: TestKind::Suite,
        }],
        Some(name) => named(&items, name),
    };
    if targets.is_empty() {
        let names = items.iter().take(MAX_NAMES).map(full_name);
        let text = format!(
            "No test in {} has this in its name; give a part of one of: {}",
            place.name(),
            names.collect::<Vec<_>>().join(", ")
        );
        return Err(unexpected(text));
    }
    let command = project.command(&targets);
    Ok((project, command))
}

fn no_runner(place: &ToolPath) -> ToolResult {
    unexpected(format!(
        "No test runner is known for {}: there is no Cargo.toml, package.json with Jest or Vitest, go.mod or configuration of pytest. Run the tests with exec_command, or give another `path`.",
        place.name()
    ))
}

/// Returns the tests and suites with this name, else the tests whose names contain it.
fn named(items: &[TestItem], name: &str) -> Vec<TestTarget> {
    let is_whole = |item: &&TestItem| item.label == name || full_name(item) == name;
    let contains = |item: &&TestItem| {
        item.kind != TestKind::Suite
            && (full_name(item).contains(name) || item.label.contains(name))
    };
    let mut found: Vec<&TestItem> = items.iter().filter(is_whole).collect();
    if found.is_empty() {
        found = items.iter().filter(contains).collect();
    }
    let targets = found.into_iter().map(|item| TestTarget {
        id: item.id.clone(),
        kind: item.kind,
    });
    targets.collect()
}

fn full_name(item: &TestItem) -> String {
    item.id.names.join("::")
}

/// Returns the last result of each test; a later report without details keeps those that came before.
fn merged(reports: Vec<TestReport>) -> BTreeMap<ReportedTest, TestOutcome> {
    let mut outcomes: BTreeMap<ReportedTest, TestOutcome> = BTreeMap::new();
    for report in reports {
        let keeps = outcomes.get(&report.test).is_some_and(|before| {
            before.status == report.outcome.status && report.outcome.message.is_empty()
        });
        if !keeps {
            outcomes.insert(report.test, report.outcome);
        }
    }
    outcomes
}

fn failed(
    outcomes: &BTreeMap<ReportedTest, TestOutcome>,
) -> impl Iterator<Item = (&ReportedTest, &TestOutcome)> {
    let all = outcomes.iter();
    all.filter(|(_, outcome)| outcome.status == TestStatus::Failed)
}

/// Returns the line with the numbers: "cargo test: 12 tests, 11 passed, 1 failed".
fn summary(project: &TestProject, outcomes: &BTreeMap<ReportedTest, TestOutcome>) -> String {
    let count = |status| {
        let all = outcomes.values();
        all.filter(|outcome| outcome.status == status).count()
    };
    let counts = [
        (count(TestStatus::Passed), "passed"),
        (count(TestStatus::Failed), "failed"),
        (count(TestStatus::Skipped), "skipped"),
        (count(TestStatus::Running), "without a result"),
    ];
    let mut text = match outcomes.len() {
        0 => format!("{}: no test ran", project.framework.name()),
        1 => format!("{}: 1 test", project.framework.name()),
        all => format!("{}: {all} tests", project.framework.name()),
    };
    for (count, state) in counts.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {state}"));
    }
    text.push('\n');
    text
}

/// Appends a failed test: its name, place, message and the end of its output.
fn describe(text: &mut String, test: &ReportedTest, outcome: &TestOutcome) {
    let place = outcome.location.as_ref().map(|place| {
        let column = place.column.map(|column| format!(":{column}"));
        let column = column.unwrap_or_default();
        format!(" at {}:{}{column}", place.path, place.line)
    });
    // Writing to a string cannot fail.
    writeln!(text, "\nFAILED {}{}", test.name, place.unwrap_or_default()).ok();
    let message = &outcome.message;
    if !message.is_empty() {
        let end = message.floor_char_boundary(MAX_MESSAGE);
        writeln!(text, "{}", &message[..end]).ok();
    }
    let output = outcome.output.trim();
    if !output.is_empty() && output != message {
        let start = output.ceil_char_boundary(output.len().saturating_sub(MAX_OUTPUT));
        let cut = if start > 0 { "\u{2026}" } else { "" };
        writeln!(text, "output:\n{cut}{}", &output[start..]).ok();
    }
}
