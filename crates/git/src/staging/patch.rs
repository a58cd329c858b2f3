//! Patches for the index, of chosen lines, for the git program.
//!
//! Invariant: a patch removes the whole text of the index and adds the whole new one, so that git applies it only where the
//! index still holds the text of the diff.

use super::selection::LineSelection;
use super::{FileDiff, Side, StagingError};
use crate::lines::lines_of;
use crate::merge::{EntryMode, TreePath};

/// The two states of a file that a patch joins; `None` if there is no file.
struct PatchSides {
    before: Option<(EntryMode, Vec<u8>)>,
    after: Option<(EntryMode, Vec<u8>)>,
}

impl FileDiff {
    /// Returns the patch that stages the selected lines of an unstaged diff, or takes those of a staged one out of the
    /// index; `None` if it changes nothing.
    ///
    /// # Errors
    ///
    /// `WholeFileOnly` if lines cannot be chosen.
    pub fn patch(&self, lines: &LineSelection) -> Result<Option<Vec<u8>>, StagingError> {
        if let Some(reason) = self.whole {
            return Err(StagingError::WholeFileOnly {
                path: self.path.clone(),
                reason,
            });
        }
        if lines.is_nothing_of(self) {
            return Ok(None);
        }
        let sides = match self.side {
            Side::Unstaged => self.staged_sides(lines),
            Side::Staged => self.unstaged_sides(lines),
        };
        Ok(sides.patch(&self.path))
    }

    fn staged_sides(&self, lines: &LineSelection) -> PatchSides {
        let mode = |entry: Option<(EntryMode, _)>| entry.map(|(mode, _)| mode);
        let (base, work) = (mode(self.base_entry), mode(self.work_entry));
        let is_removed = work.is_none() && lines.is_all_of(self);
        let after = base.or(work).filter(|_| !is_removed);
        PatchSides {
            before: base.map(|mode| (mode, self.base.to_vec())),
            after: after.map(|mode| (mode, lines.apply(self))),
        }
    }

    fn unstaged_sides(&self, lines: &LineSelection) -> PatchSides {
        let mode = |entry: Option<(EntryMode, _)>| entry.map(|(mode, _)| mode);
        let (base, work) = (mode(self.base_entry), mode(self.work_entry));
        let is_removed = base.is_none() && lines.is_all_of(self);
        let after = work.or(base).filter(|_| !is_removed);
        PatchSides {
            before: work.map(|mode| (mode, self.work.to_vec())),
            after: after.map(|mode| (mode, lines.complement(self).apply(self))),
        }
    }
}

impl PatchSides {
    fn patch(&self, path: &TreePath) -> Option<Vec<u8>> {
        if self.before == self.after {
            return None;
        }
        let names = ["a/", "b/"].map(|folder| quoted(folder, path));
        let mut patch = format!("diff --git {} {}\n", names[0], names[1]);
        match (&self.before, &self.after) {
            (None, Some((mode, _))) => {
                patch.push_str(&format!("new file mode {:06o}\n", mode.raw()));
            }
            (Some((mode, _)), None) => {
                patch.push_str(&format!("deleted file mode {:06o}\n", mode.raw()));
            }
            _ => {}
        }
        let bytes = |side: &Option<(EntryMode, Vec<u8>)>| {
            let bytes = side.as_ref().map(|(_, bytes)| bytes.clone());
            bytes.unwrap_or_default()
        };
        let (before, after) = (bytes(&self.before), bytes(&self.after));
        if before == after {
            // Only an empty file comes or goes.
            return Some(patch.into_bytes());
        }
        let name = |side: &Option<(EntryMode, Vec<u8>)>, name: &String| match side {
            Some(_) => name.clone(),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (lines_of(&before), lines_of(&after));
        patch.push_str(&format!(
            "--- {}\n+++ {}\n@@ -{} +{} @@\n",
            name(&self.before, &names[0]),
            name(&self.after, &names[1]),
            range(old.len()),
            range(new.len()),
        ));
        let mut patch = patch.into_bytes();
        old.iter().for_each(|line| push(&mut patch, b'-', line));
        new.iter().for_each(|line| push(&mut patch, b'+', line));
        Some(patch)
    }
}

/// Returns the lines of a side in the head of a hunk.
fn range(count: usize) -> String {
    let first = usize::from(count > 0);
    format!("{first},{count}")
}

fn push(patch: &mut Vec<u8>, sign: u8, line: &[u8]) {
    patch.push(sign);
    patch.extend_from_slice(line);
    if line.last() != Some(&b'\n') {
        patch.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Returns a path as git quotes it.
fn quoted(folder: &str, path: &TreePath) -> String {
    let mut quoted = format!("\"{folder}");
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(*byte));
            }
            b' '..=b'~' => quoted.push(char::from(*byte)),
            other => quoted.push_str(&format!("\\{other:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use crate::merge::{EntryMode, TreePath};
    use crate::staging::{FileDiff, LineSelection, Side};

    fn patch(side: Side, base: Option<&str>, work: Option<&str>) -> String {
        let content = |text: Option<&str>| text.map(|text| (EntryMode::Plain, text.into()));
        let path = TreePath::from("a \"ä");
        let diff = FileDiff::of_contents(&path, side, content(base), content(work));
        let patch = diff.patch(&LineSelection::of_all(&diff)).expect("text");
        String::from_utf8(patch.unwrap_or_default()).expect("text")
    }

    #[test]
    fn a_patch_replaces_the_whole_text_of_the_index() {
        let names = "\"a/a \\\"\\303\\244\" \"b/a \\\"\\303\\244\"";
        let changed = patch(Side::Unstaged, Some("1\n2\n"), Some("1\n3"));
        let (from, to) = names.split_once(" \"b").expect("two names");
        let expected = format!(
            "diff --git {names}\n--- {from}\n+++ \"b{to}\n@@ -1,2 +1,2 @@\n-1\n-2\n+1\n+3\n\\ No newline at end of file\n"
        );
        assert_eq!(changed, expected);
        let back = patch(Side::Staged, Some("1\n2\n"), Some("1\n3"));
        assert!(
            back.ends_with("-1\n-3\n\\ No newline at end of file\n+1\n+2\n"),
            "{back}"
        );
    }

    #[test]
    fn files_come_and_go_in_patches() {
        let new = patch(Side::Unstaged, None, Some("1\n"));
        assert!(
            new.contains("new file mode 100644\n--- /dev/null\n"),
            "{new}"
        );
        assert!(new.ends_with("@@ -0,0 +1,1 @@\n+1\n"), "{new}");
        let gone = patch(Side::Unstaged, Some("1\n"), None);
        assert!(gone.contains("deleted file mode 100644\n"), "{gone}");
        let unstaged = patch(Side::Staged, None, Some("1\n"));
        assert!(
            unstaged.contains("deleted file mode 100644\n"),
            "{unstaged}"
        );
        assert_eq!(patch(Side::Unstaged, Some("1\n"), Some("1\n")), "");
    }
}
