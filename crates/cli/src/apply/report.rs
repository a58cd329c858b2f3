//! The result of applying edits, as text and as JSON.

use base::AbsPath;
use patch::explain::{for_model, reason};
use patch::format::{Parsed, Severity};
use patch::set::SetPlan;
use patch::{HunkReport, NearMatch};
use patch_apply::{CommitAction, PlannedChange};
use serde_json::{Value, json};

/// The result of applying a set of edits.
pub(super) struct ApplyReport {
    pub(super) root: AbsPath,
    pub(super) parsed: Parsed,
    pub(super) plan: SetPlan,
    /// The changes that were made on disk.
    pub(super) changes: Vec<PlannedChange>,
    /// Whether everything that was to be written is.
    pub(super) is_written: bool,
    /// Why nothing could be written, as a sentence.
    pub(super) failure: Option<String>,
    pub(super) warnings: Vec<String>,
}

impl ApplyReport {
    /// Returns whether everything in the edits was parsed, planned and written.
    pub(super) fn is_complete(&self) -> bool {
        self.is_written && self.plan.is_complete() && !self.parsed.has_losses()
    }

    /// Formats the report as text for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for problem in &self.parsed.problems {
            let verdict = match problem.severity {
                Severity::Tolerated => "tolerated",
                Severity::Lost => "not understood",
            };
            text += &format!("{verdict}: {problem}\n");
        }
        let summary = for_model(&self.plan);
        match &self.failure {
            Some(failure) if self.plan.is_complete() => text += &format!("{failure}\n"),
            Some(failure) => text += &format!("{failure}\n{summary}"),
            None => text += &summary,
        }
        text
    }

    /// Formats the report as JSON.
    pub(super) fn json(&self) -> Value {
        let hunks = self.plan.edits.iter().flat_map(|edit| {
            let hunks = edit.hunks.iter();
            hunks.map(|report| hunk(&edit.path, report))
        });
        let problems = self.parsed.problems.iter().map(|problem| {
            json!({
                "line": problem.row.0 + 1,
                "message": problem.message,
                "lost": problem.severity == Severity::Lost,
            })
        });
        let files = self.changes.iter().map(|change| {
            let path = change.path.relative_to(&self.root);
            json!({
                "path": path.unwrap_or(change.path.as_path()).to_string_lossy(),
                "action": match &change.action {
                    CommitAction::Write { before: None, .. } => "created",
                    CommitAction::Write { .. } => "changed",
                    CommitAction::Remove(_) => "removed",
                },
            })
        });
        json!({
            "applied": self.is_complete(),
            "hunks": hunks.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "problems": problems.collect::<Vec<_>>(),
            "failure": self.failure,
            "warnings": self.warnings,
        })
    }
}

fn hunk(path: &str, report: &HunkReport) -> Value {
    json!({
        "path": path,
        "hunk": report.hunk + 1,
        "outcome": report.outcome.name(),
        "rung": report.strategy.map(|rung| rung.name()),
        "line": report.line_number(),
        "reason": reason(report),
        "refusal": report.refusal.as_ref().map(|refusal| refusal.name()),
        "nearest": report.nearest.iter().map(location_json).collect::<Vec<_>>(),
        "already_at": report.already_at.map(|row| row.0 + 1),
    })
}

fn location_json(place: &NearMatch) -> Value {
    json!({
        "line": place.row.0 + 1,
        "text": place.text,
        "similarity": place.similarity,
    })
}
