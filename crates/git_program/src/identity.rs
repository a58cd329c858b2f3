//! The author of commits, as Git's configuration has it.

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};

/// The name and address of the author of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitIdentity {
    /// The name; empty if it is not set.
    pub name: String,
    /// The e-mail address; empty if it is not set.
    pub address: String,
}

/// The repositories for which an identity is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityScope {
    /// This repository.
    Repository,
    /// All repositories of the user that have none of their own.
    User,
}

impl GitProgram {
    /// Returns the configured author of commits in this repository.
    pub fn identity(&self, cancellation: &Cancellation) -> Result<CommitIdentity, Error> {
        let value = |key: &str| self.configured(&["--get", key], cancellation);
        Ok(CommitIdentity {
            name: value("user.name")?.unwrap_or_default(),
            address: value("user.email")?.unwrap_or_default(),
        })
    }

    /// Stores the author of commits.
    ///
    /// # Errors
    /// `BadName` if one of them is empty or begins with a dash; nothing or only the name is stored then.
    pub fn store_identity(
        &self,
        identity: &CommitIdentity,
        scope: IdentityScope,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let file = match scope {
            IdentityScope::Repository => "--local",
            IdentityScope::User => "--global",
        };
        let values = [
            ("user.name", &identity.name),
            ("user.email", &identity.address),
        ];
        for (key, value) in values {
            let call = GitCall::write("config").args([file, key]).name(value)?;
            self.output(call, SMALL_OUTPUT, cancellation)?;
        }
        Ok(())
    }
}
