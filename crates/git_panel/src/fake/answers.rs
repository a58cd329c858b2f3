//! Answers of the double beyond files and commits, and the requests that it noted.

use git_program::{CommitIdentity, IdentityScope};

/// Answers and noted requests.
#[derive(Default)]
pub(super) struct FakeAnswers {
    pub(super) identity: CommitIdentity,
    identities: Vec<(CommitIdentity, IdentityScope)>,
}

impl FakeAnswers {
    pub(super) fn store_identity(&mut self, identity: CommitIdentity, scope: IdentityScope) {
        self.identity = identity.clone();
        self.identities.push((identity, scope));
    }
}

#[cfg(test)]
impl super::FakeGit {
    /// Sets the author of commits, as the configuration has it.
    pub(crate) fn set_configured_name(&self, name: &str) {
        self.lock().answers.identity.name = name.to_owned();
    }

    /// Returns the authors that were stored.
    pub(crate) fn take_identities(&self) -> Vec<(CommitIdentity, IdentityScope)> {
        std::mem::take(&mut self.lock().answers.identities)
    }
}
