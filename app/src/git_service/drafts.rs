//! The messages of commits that the user began to type, one for each working tree.
//!
//! A draft is a private file in the state folder, replaced as a whole, so that it survives the end of the program at any
//! moment. Stores and readings run in the order of the calls.

use std::sync::Arc;

use base::AbsPath;
use git_panel::GitAnswer;
use host::{ContentHash, Dirs, Error, Files as _, RealFiles};

use super::failures::of_host;
use super::queues::TaskQueue;

/// Length of the longest draft in bytes.
const MAX_DRAFT_BYTES: u64 = 4 << 20;

/// The drafts of a folder's repositories.
pub(super) struct CommitDrafts {
    queue: TaskQueue,
    files: Arc<DraftFiles>,
}

/// The files of the drafts.
pub(super) struct DraftFiles {
    folder: AbsPath,
}

impl CommitDrafts {
    pub(super) fn new(dirs: &Dirs) -> Self {
        let folder = dirs.state.join("commit_drafts");
        Self {
            queue: TaskQueue::default(),
            files: Arc::new(DraftFiles { folder }),
        }
    }

    /// Stores the draft of a working tree; an empty one is removed.
    pub(super) fn store(&self, root: AbsPath, text: String) -> GitAnswer<()> {
        let files = Arc::clone(&self.files);
        self.queue
            .ask(move || files.store(&root, &text).map_err(of_host))
    }

    /// Runs a task with the files after all stores that were asked for.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&DraftFiles) -> Result<T, git_panel::GitFailure> + Send + 'static,
    ) -> GitAnswer<T> {
        let files = Arc::clone(&self.files);
        self.queue.ask(move || task(&files))
    }

    /// Removes the draft of a working tree if it is the message of a new commit.
    pub(super) fn forget(&self, root: AbsPath, message: String) {
        let files = Arc::clone(&self.files);
        self.queue.push(move || {
            let is_same = |text: String| text.trim() == message.trim();
            if files
                .read(&root)
                .is_ok_and(|text| text.is_some_and(is_same))
            {
                base::LogErr::log_err(files.store(&root, ""));
            }
        });
    }
}

impl DraftFiles {
    /// Returns the draft of a working tree; `None` if there is none.
    pub(super) fn read(&self, root: &AbsPath) -> Result<Option<String>, Error> {
        match RealFiles.read(&self.file(root), MAX_DRAFT_BYTES) {
            Ok(text) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn store(&self, root: &AbsPath, text: &str) -> Result<(), Error> {
        let file = self.file(root);
        if !text.is_empty() {
            RealFiles.create_folder(&self.folder)?;
            return RealFiles.write_private(&file, text.as_bytes());
        }
        match RealFiles.remove(&file) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    fn file(&self, root: &AbsPath) -> AbsPath {
        let hash = ContentHash::of(root.as_path().as_os_str().as_encoded_bytes()).0;
        self.folder.join(format!("{hash:032x}.txt"))
    }
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use futures::executor::block_on;
    use host::{Dirs, TempFolder};

    use super::CommitDrafts;

    #[test]
    fn a_draft_survives_the_program_and_ends_with_its_commit() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(folder.path());
        dirs.create().expect("folders");
        let root = AbsPath::new("/p/one").expect("absolute");
        let other = AbsPath::new("/p/two").expect("absolute");
        let drafts = CommitDrafts::new(&dirs);
        let read = |drafts: &CommitDrafts, root: &AbsPath| {
            let root = root.clone();
            let text = drafts.ask(move |files| Ok(files.read(&root).expect("readable")));
            block_on(text).expect("a result")
        };
        for text in ["fix", "fix the", "fix the door"] {
            // The answers are not awaited: the order of the calls counts.
            drop(drafts.store(root.clone(), text.to_owned()));
        }
        assert_eq!(read(&drafts, &root).as_deref(), Some("fix the door"));
        drop(drafts);
        let drafts = CommitDrafts::new(&dirs);
        assert_eq!(read(&drafts, &root).as_deref(), Some("fix the door"));
        assert_eq!(read(&drafts, &other), None);
        drafts.forget(root.clone(), "another message".to_owned());
        assert!(read(&drafts, &root).is_some());
        drafts.forget(root.clone(), "fix the door\n".to_owned());
        assert_eq!(read(&drafts, &root), None);
    }
}
