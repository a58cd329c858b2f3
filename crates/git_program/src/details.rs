//! Details of commits, and contents, for repositories that libgit2 cannot read.

use std::path::{Path, PathBuf};

use crate::call::{GitCall, check_name};
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::log::{RefLabel, ref_labels};
use crate::program::{GitProgram, SMALL_OUTPUT};
use crate::records::{number, path, text};
use crate::status::ChangeLetter;

/// Limit of a list of changed files in bytes.
pub(crate) const LIST_BYTES: usize = 64 << 20;

/// A commit with its whole message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitDetails {
    /// The commit id in full.
    pub id: String,
    /// The ids of the parents.
    pub parents: Vec<String>,
    /// The author.
    pub author: CommitPerson,
    /// The committer.
    pub committer: CommitPerson,
    /// The references that point to the commit.
    pub refs: Vec<RefLabel>,
    /// The whole message.
    pub message: String,
}

/// An author or committer with the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitPerson {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub address: String,
    /// The time in seconds since 1970.
    pub seconds: i64,
}

/// A file that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedChange {
    /// The path in the newer commit, or in the older one if the file was deleted.
    pub path: PathBuf,
    /// The change.
    pub letter: ChangeLetter,
    /// The modes before and after; 0 where the file is missing.
    pub modes: [u32; 2],
    /// The blobs before and after.
    pub ids: [String; 2],
    /// The former path of a renamed or copied file, with the similarity in percent.
    pub source: Option<(PathBuf, u8)>,
}

impl GitProgram {
    /// Returns a commit with its message.
    pub fn commit_details(
        &self,
        id: &str,
        cancellation: &Cancellation,
    ) -> Result<CommitDetails, Error> {
        let format =
            "--format=tformat:%H%x00%P%x00%aN%x00%aE%x00%at%x00%cN%x00%cE%x00%ct%x00%D%x00%B";
        let call = GitCall::read("show")
            .args([
                "-s",
                "-z",
                "--no-show-signature",
                "--encoding=UTF-8",
                "--decorate=full",
            ])
            .arg(format)
            .arg("--end-of-options")
            .name(id)?;
        let output = self.output(call, SMALL_OUTPUT, cancellation)?;
        read_details(&output).ok_or_else(|| Error::unexpected("show"))
    }

    /// Returns the files that differ from commit `before` to commit `after`. Without `before`, those
    /// that `after` changed compared to its first parent, or all of them for the first commit.
    pub fn changed_files(
        &self,
        before: Option<&str>,
        after: &str,
        cancellation: &Cancellation,
    ) -> Result<Vec<CommittedChange>, Error> {
        let mut call =
            GitCall::read("diff-tree").args(["-r", "-z", "--raw", "-M", "--no-commit-id"]);
        call = match before {
            Some(before) => call.name(before)?,
            None => call.args(["--root", "--diff-merges=first-parent"]),
        };
        let output = self.output(call.name(after)?, LIST_BYTES, cancellation)?;
        Ok(parse_raw_changes(&output))
    }

    /// Returns the content that git writes to the working tree for a file of the index, at most `limit` bytes.
    pub fn show_for_worktree(
        &self,
        file: &Path,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, Error> {
        let mut object = std::ffi::OsString::from(":");
        object.push(file);
        let call = GitCall::read("cat-file").arg("--filters").arg(object);
        self.output(call, limit, cancellation)
    }

    /// Converts the content of a file in the working tree to what git stores, with the filters of the file, and returns
    /// it, at most `limit` bytes. Git keeps it as an object that nothing refers to.
    pub fn clean_content(
        &self,
        file: &Path,
        content: Vec<u8>,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, Error> {
        let mut path = std::ffi::OsString::from("--path=");
        path.push(file);
        let call = GitCall::write_elsewhere("hash-object")
            .args(["-w", "--stdin"])
            .arg(path)
            .input(content);
        let id = self.output(call, SMALL_OUTPUT, cancellation)?;
        let id = text(id.trim_ascii());
        let call = GitCall::read("cat-file").arg("blob").name(&id)?;
        self.output(call, limit, cancellation)
    }

    /// Returns the content of a file at a commit, or in the index if `id` is empty, at most `limit`
    /// bytes.
    pub fn show(
        &self,
        id: &str,
        file: &Path,
        limit: usize,
        cancellation: &Cancellation,
    ) -> Result<Vec<u8>, Error> {
        if !id.is_empty() {
            check_name(id)?;
        }
        let mut object = std::ffi::OsString::from(format!("{id}:"));
        object.push(file);
        let call = GitCall::read("cat-file").arg("blob").arg(object);
        self.output(call, limit, cancellation)
    }
}

fn read_details(output: &[u8]) -> Option<CommitDetails> {
    let fields: Vec<&[u8]> = output.splitn(10, |byte| *byte == 0).collect();
    let [
        id,
        parents,
        name,
        address,
        time,
        committer,
        committer_address,
        committed,
        refs,
        message,
    ] = fields[..]
    else {
        return None;
    };
    let person = |name: &[u8], address: &[u8], time: &[u8]| CommitPerson {
        name: text(name),
        address: text(address),
        seconds: number(time).unwrap_or(0),
    };
    let message = message.strip_suffix(&[0]).unwrap_or(message);
    Some(CommitDetails {
        id: text(id),
        parents: text(parents)
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        author: person(name, address, time),
        committer: person(committer, committer_address, committed),
        refs: ref_labels(&text(refs)),
        message: text(message).trim_end_matches('\n').to_owned(),
    })
}

/// Parses the output of `git diff-tree --raw -z`. Records that are not understood are left out.
pub fn parse_raw_changes(output: &[u8]) -> Vec<CommittedChange> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        let Some(head) = field.strip_prefix(b":") else {
            continue;
        };
        let Some(first) = fields.next() else {
            break;
        };
        let words: Vec<&[u8]> = head.split(|byte| *byte == b' ').collect();
        let is_pair = matches!(
            words.get(4).and_then(|word| word.first()),
            Some(b'R' | b'C')
        );
        let second = if is_pair { fields.next() } else { None };
        changes.extend(raw_change(&words, first, second));
    }
    changes
}

/// Reads `MODE MODE ID ID LETTER[SCORE]` with one path or two.
fn raw_change(words: &[&[u8]], first: &[u8], second: Option<&[u8]>) -> Option<CommittedChange> {
    let [old_mode, new_mode, old, new, letter] = words else {
        return None;
    };
    let mode = |word: &[u8]| u32::from_str_radix(std::str::from_utf8(word).ok()?, 8).ok();
    let score = || number(letter.get(1..)?);
    Some(CommittedChange {
        path: path(second.unwrap_or(first)),
        letter: ChangeLetter::of(*letter.first()?)?,
        modes: [mode(old_mode)?, mode(new_mode)?],
        ids: [text(old), text(new)],
        source: second.map(|_| (path(first), score().unwrap_or(0))),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{parse_raw_changes, read_details};
    use crate::status::ChangeLetter;

    #[test]
    fn raw_changes_are_read() {
        let output = b":100644 100755 1234 5678 M\0a b\0:100644 100644 1 2 R091\0from\0to\0:000000 120000 0 9 A\0link\0:bad\0x\0";
        let changes = parse_raw_changes(output);
        assert_eq!(changes.len(), 3);
        assert_eq!(changes[0].modes, [0o100_644, 0o100_755]);
        assert_eq!(changes[1].path, PathBuf::from("to"));
        assert_eq!(changes[1].source, Some((PathBuf::from("from"), 91)));
        assert_eq!(changes[2].letter, ChangeLetter::Added);
        assert!(parse_raw_changes(b":100644 100644 1 2 R091\0from").len() <= 1);
    }

    #[test]
    fn details_keep_the_whole_message() {
        let output = b"1\x002 3\0A\0a@b\x0010\0C\0c@d\x0011\0HEAD\0subject\n\nbody\n\0";
        let details = read_details(output).expect("whole");
        assert_eq!(details.message, "subject\n\nbody");
        assert_eq!(details.parents, ["2", "3"]);
        assert_eq!(
            (details.author.seconds, details.committer.seconds),
            (10, 11)
        );
        assert_eq!(read_details(b"1\0two"), None);
    }
}
