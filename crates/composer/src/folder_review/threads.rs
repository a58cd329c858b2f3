//! Finds the changes that the user's comments are about.
//!
//! Pure. A comment belongs to the hunk that has most of the quoted lines, or had them before the session
//! changed them again, so that a mended hunk keeps its comments. A comment whose hunk was kept or
//! rejected belongs to none.
//! Start at `FolderChanges::threads`.

use agent::comments::{CommentThread, ReviewComment};

use super::changes::{FolderChanges, FolderHunk};

impl FolderChanges {
    /// Returns for each hunk the threads about it, oldest first.
    pub fn threads<'a>(&self, threads: &'a [CommentThread]) -> Vec<Vec<&'a CommentThread>> {
        let mut of_hunks = vec![Vec::new(); self.hunks.len()];
        for thread in threads {
            if let Some(at) = self.commented(&thread.comment) {
                of_hunks[at].push(thread);
            }
        }
        of_hunks
    }

    /// The index of the hunk that a comment is about: the one with most of the quoted lines, and of
    /// several the nearest one.
    fn commented(&self, comment: &ReviewComment) -> Option<usize> {
        let hunks = self.hunks.iter().enumerate();
        let own = hunks.filter(|(_, hunk)| hunk.path == comment.path);
        let fitting = own.filter_map(|(at, hunk)| Some((at, hunk, fit(hunk, comment)?)));
        let best = fitting.max_by_key(|(_, hunk, found)| {
            let distance = hunk.line.abs_diff(comment.lines.0);
            (*found, std::cmp::Reverse(distance))
        });
        best.map(|(at, _, _)| at)
    }
}

impl FolderHunk {
    /// The first and the last line in the present file, from 1.
    pub fn lines(&self) -> (u32, u32) {
        let more = u32::try_from(self.after.len()).unwrap_or(u32::MAX);
        (self.line, self.line.saturating_add(more.saturating_sub(1)))
    }
}

/// The number of quoted lines that a hunk has or had; `None` if these are less than half of them.
fn fit(hunk: &FolderHunk, comment: &ReviewComment) -> Option<usize> {
    let added: Vec<&String> = hunk.after.iter().chain(&hunk.earlier).collect();
    let (quoted, found) = comment.quoted_in(&hunk.before, &added);
    let (first, last) = hunk.lines();
    let is_there = comment.lines.0 <= last && first <= comment.lines.1;
    let fits = if quoted == 0 {
        is_there
    } else {
        found > 0 && found * 2 >= quoted
    };
    fits.then_some(found)
}
