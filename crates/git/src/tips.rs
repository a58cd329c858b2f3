//! The latest commits of branches.

use crate::history::Commit;
use crate::repository::{Error, Repository};

/// The latest commit of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTip {
    /// The name of the branch without that of a remote; `None` for a detached HEAD.
    pub branch: Option<String>,
    /// The commit.
    pub commit: Commit,
    /// Time of the commit in seconds since 1970, which is later than that of its author after a rebase.
    pub committed_seconds: i64,
}

impl Repository {
    /// Returns the commit of HEAD; `None` if there is none yet.
    pub fn head_tip(&self) -> Result<Option<BranchTip>, Error> {
        let Some(branch) = self.branch() else {
            return Ok(None);
        };
        let name = (!branch.is_detached).then_some(branch.name);
        match self.inner.head() {
            Ok(head) => self.branch_tip(name, &head),
            Err(_) => Ok(None),
        }
    }

    /// Returns the commits of the remotes' branches of this name, as they were last fetched or pushed.
    pub fn remote_tips(&self, branch: &str) -> Result<Vec<BranchTip>, Error> {
        let Ok(remotes) = self.inner.remotes() else {
            return Ok(Vec::new());
        };
        let mut tips = Vec::new();
        for remote in remotes.iter().filter_map(|name| name.ok().flatten()) {
            let name = format!("refs/remotes/{remote}/{branch}");
            if let Ok(reference) = self.inner.find_reference(&name) {
                tips.extend(self.branch_tip(Some(branch.to_owned()), &reference)?);
            }
        }
        Ok(tips)
    }

    fn branch_tip(
        &self,
        branch: Option<String>,
        reference: &git2::Reference<'_>,
    ) -> Result<Option<BranchTip>, Error> {
        let Ok(commit) = reference.peel_to_commit() else {
            return Ok(None);
        };
        let id = commit.id().to_string();
        let committed_seconds = commit.time().seconds();
        let commit = self.log(&id, None, 1)?.pop();
        Ok(commit.map(|commit| BranchTip {
            branch,
            commit,
            committed_seconds,
        }))
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use host::TempFolder;

    use super::*;

    fn commit(repository: &git2::Repository, reference: &str, text: &str) -> String {
        let author = git2::Signature::now("Ada", "ada@example.org").expect("a signature");
        let tree = repository.treebuilder(None).and_then(|it| it.write());
        let tree = repository.find_tree(tree.expect("a tree")).expect("a tree");
        let parent = repository.find_reference(reference).ok();
        let parent = parent.and_then(|it| it.peel_to_commit().ok());
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some(reference), &author, &author, text, &tree, &parents);
        id.expect("a commit").to_string()
    }

    #[test]
    fn tips_of_head_and_of_remotes_are_found() {
        let folder = TempFolder::new().expect("a folder");
        let inner = git2::Repository::init(folder.path().as_path()).expect("a repository");
        inner.set_head("refs/heads/main").expect("a branch");
        let root = AbsPath::new(folder.path().as_path()).expect("absolute");
        let repository = || Repository::discover(&root).expect("a repository");
        assert_eq!(repository().head_tip().expect("readable"), None);
        let first = commit(&inner, "HEAD", "first");
        let second = commit(&inner, "HEAD", "second");
        let tip = repository()
            .head_tip()
            .expect("readable")
            .expect("a commit");
        assert_eq!(tip.branch.as_deref(), Some("main"));
        assert_eq!(
            (tip.commit.id, tip.commit.message),
            (second, "second".to_owned())
        );
        assert!(tip.committed_seconds > 0);

        assert_eq!(repository().remote_tips("main").expect("readable"), []);
        inner
            .remote("origin", "https://example.org/p")
            .expect("a remote");
        let first_id = git2::Oid::from_str(&first).expect("an id");
        let pushed = inner.reference("refs/remotes/origin/main", first_id, true, "push");
        pushed.expect("a reference");
        let tips = repository().remote_tips("main").expect("readable");
        assert_eq!(tips.len(), 1);
        assert_eq!(tips[0].commit.id, first);
        assert_eq!(repository().remote_tips("other").expect("readable"), []);
    }
}
