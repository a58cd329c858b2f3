//! `burin-agent apply`: edits of a model, applied to the files of a folder.
//!
//! Reads the edits, plans all of them, and writes everything or nothing; with `--partial`, what lands.
//! Start at `Apply::run`.

mod report;

use std::process::ExitCode;

use agent::ground::{Action, Change, Ground, commit};
use base::AbsPath;
use clap::{Args, ValueEnum};
use host::{Dirs, Files};
use patch::format::{Format, Parsed, parse};
use patch::set::{Completeness, SetPlan, plan_set};

use self::report::Report;
use crate::{Streams, unwritten};

/// Apply the edits on standard input to the files of a folder
///
/// Exit codes: 0 everything was applied; 1 something was refused, and nothing was changed unless --partial was given;
/// 2 it could not begin.
#[derive(Debug, Args)]
pub(crate) struct Apply {
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
    fn format(self) -> Format {
        match self {
            Self::SearchReplace => Format::SearchReplace,
            Self::ApplyPatch => Format::ApplyPatch,
            Self::Udiff => Format::UnifiedDiff,
            Self::Whole => Format::Whole,
            Self::Anchors => Format::Anchors,
        }
    }
}

impl Apply {
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let (edits, ground) = match self.read(files, streams) {
            Ok(read) => read,
            Err(sentence) => {
                // Where standard error is closed there is nobody to tell.
                writeln!(streams.errors, "burin-agent: {sentence}").ok();
                return Ok(ExitCode::from(2));
            }
        };
        let parsed = parse(self.format.format(), &edits);
        let plan = plan_set(&ground, &parsed.files, self.completeness());
        let report = self.carry_out(files, dirs, &ground, parsed, plan);
        match self.json {
            true => writeln!(streams.output, "{:#}", report.json()).map_err(unwritten)?,
            false => write!(streams.output, "{}", report.text()).map_err(unwritten)?,
        }
        for warning in &report.warnings {
            writeln!(streams.errors, "burin-agent: {warning}").map_err(unwritten)?;
        }
        Ok(match report.is_complete() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(1),
        })
    }

    fn read<'a>(
        &self,
        files: &'a dyn Files,
        streams: &mut Streams<'_>,
    ) -> Result<(String, Ground<'a>), String> {
        let root = std::path::absolute(&self.root).ok().and_then(AbsPath::new);
        let root = root.ok_or_else(|| format!("{} is no folder", self.root.display()))?;
        let ground = Ground::new(files, &root)?;
        let mut edits = Vec::new();
        streams
            .input
            .read_to_end(&mut edits)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        let edits = String::from_utf8(edits).map_err(|_| "the edits are not UTF-8".to_owned())?;
        Ok((edits, ground))
    }

    fn completeness(&self) -> Completeness {
        match self.partial {
            true => Completeness::Partial,
            false => Completeness::All,
        }
    }

    fn carry_out(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        ground: &Ground<'_>,
        parsed: Parsed,
        plan: SetPlan,
    ) -> Report {
        let mut report = Report {
            is_written: false,
            changes: Vec::new(),
            failure: None,
            warnings: Vec::new(),
            root: ground.real_root().clone(),
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
        let changes = match ground.changes(&report.plan.files) {
            Ok(changes) => changes,
            Err(sentence) => {
                report.failure = Some(format!("{sentence}; nothing was changed"));
                return report;
            }
        };
        if let Some(sentence) = protected(ground.real_root(), &changes) {
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

    fn write(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        changes: &[Change],
    ) -> Result<Vec<String>, String> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        dirs.create().map_err(|error| error.to_string())?;
        commit(files, &dirs.recovery(), changes).map_err(|error| error.sentence)
    }
}

/// Why one of the changes must not be made for a model.
fn protected(root: &AbsPath, changes: &[Change]) -> Option<String> {
    let home = std::env::var_os("HOME").and_then(AbsPath::new);
    let paths = changes.iter().flat_map(|change| {
        let moved_from = match &change.action {
            Action::Write { moved_from, .. } => moved_from.as_ref(),
            Action::Remove(_) => None,
        };
        [Some(&change.path), moved_from].into_iter().flatten()
    });
    let mut paths = paths.map(|path| ::sandbox::refusal(root, path, home.as_ref()));
    paths.find_map(|refusal| refusal)
}

#[cfg(test)]
mod tests;
