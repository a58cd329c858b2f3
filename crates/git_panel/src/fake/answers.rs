//! Answers of the double beyond files and commits, and the requests that it noted.

use git_program::{
    BisectState, CommitIdentity, IdentityScope, LogRow, PullRequest, RebaseAction, RebaseStep,
};

#[cfg(test)]
use base::AbsPath;
#[cfg(test)]
use git::changes::{Operation, OperationKind};

use super::{FakeGit, failure};
use crate::service::{GitFailure, GitFailureKind, RebasePlan};

/// Answers and noted requests.
#[derive(Default)]
pub(super) struct FakeAnswers {
    pub(super) identity: CommitIdentity,
    identities: Vec<(CommitIdentity, IdentityScope)>,
    /// The commits of the current branch, the newest first.
    pub(super) commits: Vec<LogRow>,
    /// Number of commits that the upstream branch lacks; `None` without such a branch.
    ahead: Option<usize>,
    bisect: Option<BisectState>,
    /// `None` without a program that knows them.
    requests: Option<Vec<PullRequest>>,
}

impl FakeAnswers {
    pub(super) fn store_identity(&mut self, identity: CommitIdentity, scope: IdentityScope) {
        self.identity = identity.clone();
        self.identities.push((identity, scope));
    }

    pub(super) fn rebase_plan(&self, first: Option<String>) -> Result<RebasePlan, GitFailure> {
        let count = match &first {
            Some(first) => self.commits.iter().position(|row| row.id == *first),
            None => self.ahead.and_then(|ahead| ahead.checked_sub(1)),
        };
        let Some(last) = count.filter(|last| *last < self.commits.len()) else {
            return Err(failure(GitFailureKind::NoUpstream, "there is no upstream"));
        };
        let steps = self.commits[..=last].iter().rev().map(|row| RebaseStep {
            action: RebaseAction::Pick,
            id: row.id.clone(),
            subject: row.subject.clone(),
        });
        Ok(RebasePlan {
            upstream: first.map_or("@{upstream}".to_owned(), |first| format!("{first}^")),
            base: "the upstream branch".to_owned(),
            steps: steps.collect(),
            merges: 0,
        })
    }

    pub(super) fn bisect_state(&self) -> BisectState {
        self.bisect.clone().unwrap_or(BisectState::Waiting)
    }

    pub(super) fn pull_requests(&self) -> Result<Vec<PullRequest>, GitFailure> {
        let sentence = "pull requests need the program gh";
        let requests = self.requests.clone();
        requests.ok_or_else(|| failure(GitFailureKind::Other, sentence))
    }

    pub(super) fn commit_message(&self, id: &str) -> String {
        let row = self.commits.iter().find(|row| row.id == id);
        row.map_or(String::new(), |row| {
            format!("{}\n\nThe whole message.\n", row.subject)
        })
    }
}

impl FakeGit {
    /// Sets the commits of the current branch by their subjects, the newest first, and the number that its upstream branch
    /// lacks; `None` without such a branch. Their ids are the digits of their numbers from the end, counted from 1, repeated.
    pub fn set_branch_commits(&self, subjects: &[&str], ahead: Option<usize>) {
        let rows = subjects.iter().enumerate().map(|(ix, subject)| LogRow {
            id: ((subjects.len() - ix) % 10).to_string().repeat(40),
            parents: Vec::new(),
            author: "Ann".to_owned(),
            address: "ann@example.org".to_owned(),
            seconds: 0,
            refs: Vec::new(),
            subject: (*subject).to_owned(),
        });
        let mut state = self.lock();
        state.answers.commits = rows.collect();
        state.answers.ahead = ahead;
    }

    /// Sets the open pull requests; before, there is no program that knows them.
    pub fn set_pull_requests(&self, requests: Vec<PullRequest>) {
        self.lock().answers.requests = Some(requests);
    }
}

#[cfg(test)]
impl FakeGit {
    /// Sets the author of commits, as the configuration has it.
    pub(crate) fn set_configured_name(&self, name: &str) {
        self.lock().answers.identity.name = name.to_owned();
    }

    /// Begins a bisection with a state, or sets its state.
    pub(crate) fn set_bisect_state(&self, root: &AbsPath, bisect: BisectState) {
        let mut state = self.lock();
        state.answers.bisect = Some(bisect);
        let repository = state.repositories.entry(root.clone()).or_default();
        repository.operation = Some(Operation {
            kind: OperationKind::Bisect,
            progress: None,
            branch: None,
        });
    }

    /// Returns the authors that were stored.
    pub(crate) fn take_identities(&self) -> Vec<(CommitIdentity, IdentityScope)> {
        std::mem::take(&mut self.lock().answers.identities)
    }
}
