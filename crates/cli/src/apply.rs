//! `burin-agent apply`: applies a model's edits to the files of a folder.
//!
//! Reads the edits, plans all of them, and writes everything or nothing; with `--partial`, the
//! edits that match.
//! Start at `ApplyCommand::run`.

mod report;

use std::process::ExitCode;

use base::AbsPath;
use clap::{Args, ValueEnum};
use host::{Dirs, Files};
use patch::format::{EditFormat, Parsed, parse};
use patch::set::{Completeness, SetPlan, plan_set};
use patch_apply::{CommitAction, EditRoot, PlannedChange, commit};

use self::report::ApplyReport;
use crate::{Streams, write_error};

/// Apply the edits on standard input to the files of a folder
///
/// Exit codes: 0 everything was applied; 1 something was refused, and nothing was changed unless --partial was given;
/// 2 it could not begin.
#[derive(Debug, Args)]
pub(crate) struct ApplyCommand {
    /// The format of the edits
    #[arg(long, value_enum)]
    format: FormatArg,
    /// The folder that paths are relative to; nothing outside it is changed
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: std::path::PathBuf,
    /// Apply the other edits when some are refused
    #[arg(long)]
    partial: bool,
    /// Print an object {applied, hunks: [{path, hunk, outcome, rung, line, reason, nearest, …}], files, problems}
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    SearchReplace,
    ApplyPatch,
    Udiff,
    Whole,
    Anchors,
}

impl FormatArg {
    fn format(self) -> EditFormat {
        match self {
            Self::SearchReplace => EditFormat::SearchReplace,
            Self::ApplyPatch => EditFormat::ApplyPatch,
            Self::Udiff => EditFormat::UnifiedDiff,
            Self::Whole => EditFormat::Whole,
            Self::Anchors => EditFormat::Anchors,
        }
    }
}

impl ApplyCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let (edits, edit_root) = match self.read(files, streams) {
            Ok(read) => read,
            Err(sentence) => {
                // If standard error is closed, the message cannot be shown.
                writeln!(streams.errors, "burin-agent: {sentence}").ok();
                return Ok(ExitCode::from(2));
            }
        };
        let parsed = parse(self.format.format(), &edits);
        let plan = plan_set(&edit_root, &parsed.files, self.completeness());
        let report = self.apply_plan(files, dirs, &edit_root, parsed, plan);
        if self.json {
            writeln!(streams.output, "{:#}", report.json()).map_err(write_error)?
        } else {
            write!(streams.output, "{}", report.text()).map_err(write_error)?
        }
        for warning in &report.warnings {
            writeln!(streams.errors, "burin-agent: {warning}").map_err(write_error)?;
        }
        Ok(if report.is_complete() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }

    /// Reads the edits from standard input and opens the root. Fails if the root is not a folder,
    /// or if the edits are not UTF-8.
    fn read<'a>(
        &self,
        files: &'a dyn Files,
        streams: &mut Streams<'_>,
    ) -> Result<(String, EditRoot<'a>), String> {
        let root = std::path::absolute(&self.root).ok().and_then(AbsPath::new);
        let root = root.ok_or_else(|| format!("{} is not a folder", self.root.display()))?;
        let edit_root = EditRoot::new(files, &root).map_err(|error| error.to_string())?;
        let mut edits = Vec::new();
        streams
            .input
            .read_to_end(&mut edits)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        let edits = String::from_utf8(edits).map_err(|_| "the edits are not UTF-8".to_owned())?;
        Ok((edits, edit_root))
    }

    fn completeness(&self) -> Completeness {
        if self.partial {
            Completeness::Partial
        } else {
            Completeness::All
        }
    }

    fn apply_plan(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        edit_root: &EditRoot<'_>,
        parsed: Parsed,
        plan: SetPlan,
    ) -> ApplyReport {
        let mut report = ApplyReport {
            is_written: false,
            changes: Vec::new(),
            failure: None,
            warnings: Vec::new(),
            root: edit_root.real_root().clone(),
            parsed,
            plan,
        };
        if report.plan.edits.is_empty() && !report.parsed.has_losses() {
            let format = self.format.format().name();
            report.failure = Some(format!("there are no edits in the format {format} here"));
            return report;
        }
        // An edit that could not be read is missing from the plan: the set is not whole.
        if report.parsed.has_losses() && !self.partial {
            report.plan.files.clear();
            report.failure = Some("nothing was changed: not all of it could be read".to_owned());
            return report;
        }
        let changes = match edit_root.changes(&report.plan.files) {
            Ok(changes) => changes,
            Err(error) => {
                report.failure = Some(format!("{error}; nothing was changed"));
                return report;
            }
        };
        if let Some(sentence) = protected(edit_root.real_root(), &changes) {
            report.failure = Some(format!("{sentence}; nothing was changed"));
            return report;
        }
        match self.write(files, dirs, &changes) {
            Ok(warnings) => {
                report.is_written = true;
                report.warnings = warnings;
                report.changes = changes;
            }
            Err(sentence) => report.failure = Some(sentence),
        }
        report
    }

    /// Writes the changes: all, or none if one fails. Returns warnings.
    fn write(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        changes: &[PlannedChange],
    ) -> Result<Vec<String>, String> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        dirs.create().map_err(|error| error.to_string())?;
        commit(files, &dirs.recovery(), changes).map_err(|error| error.to_string())
    }
}

/// Why one of the changes must not be made for a model.
fn protected(root: &AbsPath, changes: &[PlannedChange]) -> Option<String> {
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    let paths = changes.iter().flat_map(|change| {
        let moved_from = match &change.action {
            CommitAction::Write { moved_from, .. } => moved_from.as_ref(),
            CommitAction::Remove(_) => None,
        };
        [Some(&change.path), moved_from].into_iter().flatten()
    });
    let mut paths = paths.map(|path| ::sandbox::refusal(root, path, home.as_ref()));
    paths.find_map(|refusal| refusal)
}

#[cfg(test)]
mod tests;
