//! Creates commits with an explicit author and committer.

use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// Name and email of a commit's author or committer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Name, as recorded in the commit.
    pub name: String,
    /// Email address, as recorded in the commit.
    pub email: String,
}

/// Everything that a new commit records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSpec {
    /// Id of the commit's tree.
    pub tree: ObjectId,
    /// Ids of the parent commits.
    pub parents: Vec<ObjectId>,
    /// Author of the change.
    pub author: Signature,
    /// Creator of the commit.
    pub committer: Signature,
    /// Commit time in seconds since 1970.
    pub seconds: i64,
    /// Offset of local time from UTC, in minutes.
    pub offset_minutes: i32,
    /// The full commit message.
    pub message: String,
}

impl Repository {
    /// Returns the user's identity from the repository's and the user's git config.
    pub fn signature(&self) -> Option<Signature> {
        let signature = self.inner.signature().ok()?;
        Some(Signature {
            name: String::from_utf8_lossy(signature.name_bytes()).into_owned(),
            email: String::from_utf8_lossy(signature.email_bytes()).into_owned(),
        })
    }

    /// Creates a commit object; no branch refers to it yet.
    pub fn create_commit(&self, sealed: &CommitSpec) -> Result<ObjectId, Error> {
        let failed = |error: git2::Error| self.failed("the commit", &error);
        let when = git2::Time::new(sealed.seconds, sealed.offset_minutes);
        let signature = |signature: &Signature| {
            let clean = |text: &str| {
                let text: String = text.chars().filter(|it| !"<>\n\0".contains(*it)).collect();
                match text.trim() {
                    "" => "unknown".to_owned(),
                    text => text.to_owned(),
                }
            };
            git2::Signature::new(&clean(&signature.name), &clean(&signature.email), &when)
        };
        let tree = self.inner.find_tree(sealed.tree.0).map_err(failed)?;
        let parents: Result<Vec<_>, _> = sealed
            .parents
            .iter()
            .map(|id| self.inner.find_commit(id.0))
            .collect();
        let parents = parents.map_err(failed)?;
        let message = sealed.message.replace('\0', "");
        let id = self.inner.commit(
            None,
            &signature(&sealed.author).map_err(failed)?,
            &signature(&sealed.committer).map_err(failed)?,
            &message,
            &tree,
            &parents.iter().collect::<Vec<_>>(),
        );
        id.map(ObjectId).map_err(failed)
    }

    /// Returns the first parent of a commit.
    pub fn parent_of(&self, commit: ObjectId) -> Result<Option<ObjectId>, Error> {
        let failed = |error: git2::Error| self.failed(&commit.to_string(), &error);
        let commit = self.inner.find_commit(commit.0).map_err(failed)?;
        Ok(commit.parent_id(0).ok().map(ObjectId))
    }

    /// Returns whether `commit` is `ancestor` or a descendant of it.
    pub fn has_ancestor(&self, commit: ObjectId, ancestor: ObjectId) -> Result<bool, Error> {
        if commit == ancestor {
            return Ok(true);
        }
        self.inner
            .graph_descendant_of(commit.0, ancestor.0)
            .map_err(|error| self.failed(&commit.to_string(), &error))
    }
}
