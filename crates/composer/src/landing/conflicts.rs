//! Conflicts of landings: listed, resolved file by file, or abandoned.

use git::merge::TreePath;

use super::{LandingResult, LandingService, contains, ids};
use crate::Error;
use crate::conflict::{Conflict, Resolution, has_conflict_markers};
use crate::job::{JobStatus, WorkOutcome};
use crate::land::{CheckRunner, LandingStep, LandingSummary};

impl LandingService {
    /// Returns the conflicts of each job's latest landing. Returns an empty list if no latest
    /// landing is in conflict.
    pub fn conflicts(&self, jobs: &[JobStatus]) -> Result<Vec<Conflict>, Error> {
        let mut conflicts = Vec::new();
        let mut listed = Vec::new();
        for job in jobs {
            if let Some(landing) = self.conflicting_landing(job)?
                && !listed.contains(&landing.id)
            {
                listed.push(landing.id);
                conflicts.extend(self.describe_conflicts(job, &landing)?);
            }
        }
        Ok(conflicts)
    }

    /// Resolves the file `path` of a job's landing. After the last conflict, continues the landing
    /// and blocks on the checks. `jobs` are all jobs of the board. Fails if the job has no landing
    /// in conflict.
    pub fn resolve_file(
        &self,
        (job, jobs): (&JobStatus, &[JobStatus]),
        (path, resolution): (&str, &Resolution),
        checks: &dyn CheckRunner,
    ) -> Result<LandingResult, Error> {
        let landing = self.conflicting_landing(job)?;
        let landing = landing.ok_or_else(|| no_conflict(job))?;
        if let Resolution::Text(text) = resolution {
            let conflicts = self.describe_conflicts(job, &landing)?;
            let conflict = conflicts.iter().find(|it| it.path == path);
            let draft = conflict.and_then(|it| it.draft.as_deref());
            if draft.is_some_and(|draft| has_conflict_markers(draft, text)) {
                return Err(Error::Unresolved {
                    path: path.to_owned(),
                });
            }
        }
        let left = self
            .landings
            .resolve(landing.id, &TreePath::new(path), resolution)?;
        let jobs = jobs.iter().filter(|it| contains(&landing.session, it));
        let jobs: Vec<JobStatus> = jobs.cloned().collect();
        let pending = |text| Ok(LandingResult::good(ids(&jobs), text));
        match left {
            0 => self.run(landing.id, &jobs, checks),
            1 => pending(format!("{path} is settled; one more file is not")),
            left => pending(format!("{path} is settled; {left} more files are not")),
        }
    }

    /// Abandons a job's landing in conflict. The work stays in the worktree. Fails if the job has
    /// no landing in conflict.
    pub fn abandon(&self, job: &JobStatus) -> Result<LandingResult, Error> {
        let landing = self.conflicting_landing(job)?;
        let landing = landing.ok_or_else(|| no_conflict(job))?;
        self.landings.drop_landing(landing.id)?;
        let text = "its landing was abandoned; the work stays in its worktree".to_owned();
        Ok(LandingResult {
            outcome: landing.undoes.is_none().then_some(WorkOutcome::Undone),
            ..LandingResult::good(vec![job.job.clone()], text)
        })
    }

    /// The latest landing of a job, if it conflicts with the branch.
    fn conflicting_landing(&self, job: &JobStatus) -> Result<Option<LandingSummary>, Error> {
        let landings = self.landings.list()?;
        let latest = landings.into_iter().rfind(|it| contains(&it.session, job));
        Ok(latest.filter(|it| matches!(it.step, LandingStep::Conflicted { .. })))
    }

    /// Returns the conflicts of a landing as the board shows them. Fails if the landing or its work
    /// cannot be read.
    fn describe_conflicts(
        &self,
        job: &JobStatus,
        landing: &LandingSummary,
    ) -> Result<Vec<Conflict>, Error> {
        let conflicts = self.landings.conflicts(landing.id)?;
        let branch = landing.branch.as_str();
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        Ok(Conflict::describe_all(
            &job.job,
            (branch, &landing.title),
            &conflicts,
        ))
    }
}

fn no_conflict(job: &JobStatus) -> Error {
    Error::NothingToDo(format!(
        "no landing of {} is in conflict with the branch",
        job.job
    ))
}
