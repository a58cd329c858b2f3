//! Commits that say who made them and which session.

use crate::merge::ObjectId;
use crate::repository::{Error, Repository};

/// Whose name a commit carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// As it stands in the commit.
    pub name: String,
    /// As it stands in the commit.
    pub email: String,
}

/// A commit to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// What it holds.
    pub tree: ObjectId,
    /// The commits it stands upon.
    pub parents: Vec<ObjectId>,
    /// Who wrote it.
    pub author: Person,
    /// Who put it here.
    pub committer: Person,
    /// When, in seconds since 1970.
    pub seconds: i64,
    /// How far local time is ahead of universal time, in minutes.
    pub offset_minutes: i32,
    /// The whole message.
    pub message: String,
}

impl Repository {
    /// Who git says the person is, by the settings of the repository and their own.
    pub fn person(&self) -> Option<Person> {
        let signature = self.inner.signature().ok()?;
        Some(Person {
            name: String::from_utf8_lossy(signature.name_bytes()).into_owned(),
            email: String::from_utf8_lossy(signature.email_bytes()).into_owned(),
        })
    }

    /// Makes a commit among the objects; no branch knows of it yet.
    pub fn seal(&self, sealed: &Sealed) -> Result<ObjectId, Error> {
        let failed = |error: git2::Error| self.failed("the commit", &error);
        let when = git2::Time::new(sealed.seconds, sealed.offset_minutes);
        let signature = |person: &Person| {
            let clean = |text: &str| {
                let text: String = text.chars().filter(|it| !"<>\n\0".contains(*it)).collect();
                match text.trim() {
                    "" => "unknown".to_owned(),
                    text => text.to_owned(),
                }
            };
            git2::Signature::new(&clean(&person.name), &clean(&person.email), &when)
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

    /// The first parent of a commit.
    pub fn parent_of(&self, commit: ObjectId) -> Result<Option<ObjectId>, Error> {
        let failed = |error: git2::Error| self.failed(&commit.to_string(), &error);
        let commit = self.inner.find_commit(commit.0).map_err(failed)?;
        Ok(commit.parent_id(0).ok().map(ObjectId))
    }

    /// Whether `commit` leads to `ancestor`, or is it.
    pub fn leads_to(&self, commit: ObjectId, ancestor: ObjectId) -> Result<bool, Error> {
        if commit == ancestor {
            return Ok(true);
        }
        self.inner
            .graph_descendant_of(commit.0, ancestor.0)
            .map_err(|error| self.failed(&commit.to_string(), &error))
    }
}
