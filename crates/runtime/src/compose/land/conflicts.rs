//! Landing conflicts: listed, resolved file by file, or abandoned.

use composer::board::{JobStatus, WorkOutcome};
use composer::land::{CheckRunner, LandingStep, LandingSummary, Resolution};
use composer::view::{ConflictChoice, LandingConflict, has_conflict_markers, landing_conflicts};
use git::merge::TreePath;

use super::{MergeResult, MergeService, is_of, jobs_of};

impl MergeService {
    /// Returns the conflicts of each job's latest landing. Blocks on the disk.
    pub fn conflicts(&self, lines: &[JobStatus]) -> Result<Vec<LandingConflict>, String> {
        let mut all = Vec::new();
        let mut seen = Vec::new();
        for line in lines {
            if let Some(landing) = self.landing_in_conflict(line)?
                && !seen.contains(&landing.id)
            {
                seen.push(landing.id);
                all.extend(self.landing_conflicts(line, &landing)?);
            }
        }
        Ok(all)
    }

    /// Resolves a file of a job's landing; the landing continues after the last one. Blocks on the
    /// disk and on the checks.
    pub fn resolve_file(
        &self,
        (line, lines): (&JobStatus, &[JobStatus]),
        (path, with): (&str, &ConflictChoice),
        checks: &dyn CheckRunner,
    ) -> Result<MergeResult, String> {
        let landing = self.landing_in_conflict(line)?;
        let landing = landing.ok_or_else(|| no_conflict(line))?;
        if let ConflictChoice::Text(text) = with {
            let disputes = self.landing_conflicts(line, &landing)?;
            let dispute = disputes.iter().find(|it| it.path == path);
            let draft = dispute.and_then(|it| it.draft.as_deref());
            if draft.is_some_and(|draft| has_conflict_markers(draft, text)) {
                return Err(format!(
                    "{path} still has conflict markers: remove them, then resolve it"
                ));
            }
        }
        let resolution = match with {
            ConflictChoice::Branch => Resolution::Ours,
            ConflictChoice::Agent => Resolution::Theirs,
            ConflictChoice::Text(text) => Resolution::Text(text.clone().into_bytes()),
        };
        let left = self
            .landings
            .resolve(landing.id, &TreePath::new(path), &resolution)
            .map_err(|error| error.to_string())?;
        let lines = lines.iter().filter(|it| is_of(&landing.session, it));
        let lines: Vec<JobStatus> = lines.cloned().collect();
        match left {
            0 => self.go_on(landing.id, &lines, checks),
            1 => {
                Ok(self.pending_result(&lines, format!("{path} is settled; one more file is not")))
            }
            left => Ok(self.pending_result(
                &lines,
                format!("{path} is settled; {left} more files are not"),
            )),
        }
    }

    /// Abandons a job's landing; its work stays in the worktree. Blocks on the disk.
    pub fn abandon(&self, line: &JobStatus) -> Result<MergeResult, String> {
        let landing = self.landing_in_conflict(line)?;
        let landing = landing.ok_or_else(|| no_conflict(line))?;
        let dropped = self.landings.drop_landing(landing.id);
        dropped.map_err(|error| error.to_string())?;
        let text = "its landing was abandoned; the work stays in its worktree".to_owned();
        let settled = landing.undoes.is_none().then_some(WorkOutcome::TakenBack);
        Ok(MergeResult {
            is_good: true,
            settled,
            ..MergeResult::new(jobs_of(std::slice::from_ref(line)), text)
        })
    }

    fn pending_result(&self, lines: &[JobStatus], text: String) -> MergeResult {
        MergeResult {
            is_good: true,
            ..MergeResult::new(jobs_of(lines), text)
        }
    }

    /// The latest landing of a job, where it does not fit the branch.
    fn landing_in_conflict(&self, line: &JobStatus) -> Result<Option<LandingSummary>, String> {
        let landings = self.landings.list().map_err(|error| error.to_string())?;
        let its = landings.into_iter().rfind(|it| is_of(&it.session, line));
        Ok(its.filter(|it| matches!(it.step, LandingStep::Conflicted { .. })))
    }

    fn landing_conflicts(
        &self,
        line: &JobStatus,
        landing: &LandingSummary,
    ) -> Result<Vec<LandingConflict>, String> {
        let conflicts = self.landings.conflicts(landing.id);
        let conflicts = conflicts.map_err(|error| error.to_string())?;
        let branch = landing.branch.as_str();
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        Ok(landing_conflicts(
            &line.job,
            (branch, &landing.title),
            &conflicts,
        ))
    }
}

fn no_conflict(line: &JobStatus) -> String {
    format!("no landing of {} is in conflict with the branch", line.job)
}
