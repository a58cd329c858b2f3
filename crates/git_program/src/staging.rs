//! Staging through Git, for repositories whose index libgit2 cannot write.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::call::GitCall;
use crate::cancellation::Cancellation;
use crate::error::Error;
use crate::program::{GitProgram, SMALL_OUTPUT};

/// Paths that are passed as arguments; for more of them, the whole index is listed.
const ARGUMENT_PATHS: usize = 200;
/// Limit of a list of the index in bytes.
const INDEX_BYTES: usize = 512 << 20;

/// The entries of some paths in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntries {
    paths: Vec<PathBuf>,
    /// The records of `git ls-files --stage`: mode, id, stage and path.
    records: Vec<Vec<u8>>,
}

impl IndexEntries {
    /// Returns the mode of the entry of a path without conflict; `None` if there is none.
    pub fn mode_of(&self, path: &std::path::Path) -> Option<u32> {
        let record = self.records.iter().find(|record| {
            let (_, name) = split_record(record);
            name == path.as_os_str().as_bytes()
        })?;
        let (head, _) = split_record(record);
        if !head.ends_with(b" 0") {
            return None;
        }
        let mode = head.split(|byte| *byte == b' ').next()?;
        u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()
    }

    /// Returns whether one of the entries belongs to a conflict.
    pub fn has_conflicts(&self) -> bool {
        let mut records = self.records.iter();
        records.any(|record| !split_record(record).0.ends_with(b" 0"))
    }

    /// Returns the input of `git update-index --index-info` that restores these entries.
    fn restoring(&self, id_length: usize) -> Vec<u8> {
        let mut input = Vec::new();
        for path in &self.paths {
            input.extend_from_slice(b"0 ");
            input.extend(std::iter::repeat_n(b'0', id_length));
            input.push(b'\t');
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        for record in &self.records {
            input.extend_from_slice(record);
            input.push(0);
        }
        input
    }

    /// Returns the length of the ids in hexadecimal digits, if there is an entry.
    fn id_length(&self) -> Option<usize> {
        let id = self.records.first()?.split(|byte| *byte == b' ').nth(1)?;
        Some(id.len())
    }
}

/// Splits a record into its head and its path.
fn split_record(record: &[u8]) -> (&[u8], &[u8]) {
    let tab = record.iter().position(|byte| *byte == b'\t');
    match tab {
        Some(tab) => (&record[..tab], &record[tab + 1..]),
        None => (record, &[]),
    }
}

impl GitProgram {
    /// Returns the entries of these paths in the index, those of conflicts included.
    pub fn index_entries(
        &self,
        paths: &[PathBuf],
        cancellation: &Cancellation,
    ) -> Result<IndexEntries, Error> {
        let mut call = GitCall::read("ls-files").args(["--stage", "-z", "--"]);
        if paths.len() <= ARGUMENT_PATHS {
            call.arguments.extend(paths.iter().map(Into::into));
        }
        let output = self.output(call, INDEX_BYTES, cancellation)?;
        let wanted: HashSet<&[u8]> = paths
            .iter()
            .map(|path| path.as_os_str().as_bytes())
            .collect();
        let records = output.split(|byte| *byte == 0);
        let records = records.filter(|record| wanted.contains(split_record(record).1));
        Ok(IndexEntries {
            paths: paths.to_vec(),
            records: records.map(<[u8]>::to_vec).collect(),
        })
    }

    /// Restores entries of the index if it still holds `expected` at their paths; returns whether it did. Flags that
    /// the user set on the entries are lost.
    pub fn restore_index_entries(
        &self,
        before: &IndexEntries,
        expected: &IndexEntries,
        cancellation: &Cancellation,
    ) -> Result<bool, Error> {
        if self.index_entries(&before.paths, cancellation)?.records != expected.records {
            return Ok(false);
        }
        let length = before.id_length().or_else(|| expected.id_length());
        let input = before.restoring(length.unwrap_or(40));
        let call = GitCall::write_paths("update-index")
            .args(["-z", "--index-info"])
            .input(input);
        self.output(call, SMALL_OUTPUT, cancellation)?;
        Ok(true)
    }

    /// Applies a patch to the index. The counts in the headers of its hunks need not be right.
    pub fn stage_patch(&self, patch: Vec<u8>, cancellation: &Cancellation) -> Result<(), Error> {
        self.apply_to_index(patch, None, cancellation)
    }

    /// Takes a patch back from the index.
    pub fn unstage_patch(&self, patch: Vec<u8>, cancellation: &Cancellation) -> Result<(), Error> {
        self.apply_to_index(patch, Some("--reverse"), cancellation)
    }

    fn apply_to_index(
        &self,
        patch: Vec<u8>,
        option: Option<&str>,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let mut call = GitCall::write_paths("apply")
            .args(["--cached", "--recount", "--whitespace=nowarn"])
            .input(patch);
        call.arguments.extend(option.map(Into::into));
        let call = call.arg("-");
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Stages the working tree's state of these paths, deletions included.
    pub fn add(&self, paths: &[PathBuf], cancellation: &Cancellation) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        let call = GitCall::write_paths("add")
            .args(["--all", "--sparse"])
            .paths(paths);
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }

    /// Sets the index entries of these paths back to HEAD; the working tree keeps its files.
    pub fn restore_staged(
        &self,
        paths: &[PathBuf],
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        // Works before the first commit, too, which `restore --staged` does not.
        let call = GitCall::write_paths("reset").arg("--quiet").paths(paths);
        self.output(call, SMALL_OUTPUT, cancellation).map(drop)
    }
}
