//! Bases: checkouts of a commit that are written once and then only read.
//!
//! Invariant: the files of a complete base are never written; other bases may hard-link them.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use base::{AbsPath, LogErr};
use git::lease::{
    BlobReader, CommitContents, CommitFile, FileTime, HeadCommit, MainRepo, write_index,
};
use host::{Clock, RealClock};
use rustix::fs::lstat;

use crate::dir_tree;
use crate::error::Error;
use crate::fill::{FileToWrite, FillSource, as_path, make_folder, to_path, write_tree};
use crate::git_dir;
use crate::json_file;
use crate::owner::BlockingLock;
use crate::record::{self, BaseRecord};
use crate::system;

/// A checkout of one tree, shared by leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseCheckout {
    /// Object id of the tree.
    pub tree: String,
    /// Number of files in it.
    pub files: usize,
    /// Total size of its files, in bytes.
    pub bytes: u64,
    /// Features of the checkout that its leases lack, as sentences.
    pub caveats: Vec<String>,
    /// The folder that holds `tree` and `git`.
    pub(crate) layer: PathBuf,
}

impl BaseCheckout {
    /// Returns the folder with its files.
    pub(crate) fn tree_folder(&self) -> PathBuf {
        self.layer.join("tree")
    }
}

/// The bases of one repository.
pub(crate) struct BaseStore<'a> {
    pub(crate) folder: PathBuf,
    pub(crate) main_repo: &'a AbsPath,
}

impl BaseStore<'_> {
    /// Returns the base of a tree, by the full id, if it is complete. One of an earlier boot counts only
    /// if all of it had reached the disk.
    pub(crate) fn find(&self, tree: &str) -> Option<BaseCheckout> {
        let folder = self.folder.join(tree);
        let record: BaseRecord = json_file::read(&folder.join("base.json"))?;
        // After a power cut, files without a confirmed sync may be empty.
        let is_safe = folder.join("settled").exists() || record.boot == system::boot_id();
        (record.version == record::VERSION && is_safe).then(|| BaseCheckout {
            tree: record.tree,
            files: record.files,
            bytes: record.bytes,
            caveats: record.caveats,
            layer: folder.join("layer"),
        })
    }

    /// Returns the base of `head`, and makes it if necessary; `finish` gets its folder before it counts
    /// as complete. Blocks while another process makes one.
    ///
    /// # Errors
    /// If it cannot be written; the next call removes the part and begins again.
    pub(crate) fn make(
        &self,
        main_repo: &MainRepo,
        head: &HeadCommit,
        finish: &dyn Fn(&Path),
    ) -> Result<BaseCheckout, Error> {
        if let Some(base) = self.find(&head.tree) {
            return Ok(base);
        }
        let _gate = BlockingLock::wait(&self.folder.join("lock"))?;
        if let Some(base) = self.find(&head.tree) {
            return Ok(base);
        }
        let draft = self.folder.join(format!("{}.making", head.tree));
        let whole = self.folder.join(&head.tree);
        for leftover in [&draft, &whole] {
            dir_tree::remove_all(leftover).map_err(Error::file("clear", leftover))?;
        }
        let record = self.write(main_repo, head, &draft.join("layer"), &draft)?;
        finish(&draft);
        json_file::write(&draft.join("base.json"), &record)?;
        fs::rename(&draft, &whole).map_err(Error::file("name", &whole))?;
        let settled = whole.clone();
        thread::spawn(move || sync_base(&settled).log_err());
        self.find(&head.tree)
            .ok_or_else(|| Error::Refused(format!("{} was removed", whole.display())))
    }

    /// Returns all complete bases, newest first.
    pub(crate) fn all(&self) -> Vec<BaseCheckout> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let made = entry
                .metadata()
                .and_then(|metadata| metadata.modified())
                .ok();
            if let Some(base) = self.find(&name) {
                found.push((made, base));
            }
        }
        found.sort_by_key(|(made, _)| std::cmp::Reverse(*made));
        found.into_iter().map(|(_, base)| base).collect()
    }

    /// Writes the files, the git folder and the index of a base into the new folders `draft` and
    /// `layer`, and returns its record, which it does not store. Hard-links files of an older base
    /// that are equal.
    fn write(
        &self,
        main_repo: &MainRepo,
        head: &HeadCommit,
        layer: &Path,
        draft: &Path,
    ) -> Result<BaseRecord, Error> {
        let contents = main_repo.contents(&head.tree)?;
        for folder in [draft, layer, &layer.join("tree"), &layer.join("git")] {
            make_folder(folder)?;
        }
        let fit = BlobReader::open(self.main_repo, &head.tree)?.fingerprint(&contents);
        let tree = layer.join("tree");
        let older = self.older(&fit);
        let stamps = self.write_files(main_repo, head, &contents, older.as_ref(), &tree)?;
        for submodule in &contents.submodules {
            let path = tree.join(as_path(submodule));
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let pointer = tree.join(".git");
        fs::write(&pointer, "gitdir: ../git\n").map_err(Error::file("write", &pointer))?;
        git_dir::write_common(main_repo, &layer.join("git"))?;
        let bytes = stamps.values().map(|stamped| stamped.size).sum();
        let files = contents
            .files
            .iter()
            .filter_map(|file| Some((file, *stamps.get(file.path.as_slice())?)));
        write_index(main_repo, &head.tree, files, &layer.join("git/index"))?;
        Ok(BaseRecord {
            version: record::VERSION,
            tree: head.tree.clone(),
            fit,
            files: contents.files.len(),
            bytes,
            caveats: main_repo.caveats(&contents),
            boot: system::boot_id(),
        })
    }

    /// Writes every file: hard links to an older base where possible, the others from Git's
    /// objects.
    fn write_files<'a>(
        &self,
        main_repo: &MainRepo,
        head: &HeadCommit,
        contents: &'a CommitContents,
        older: Option<&BaseCheckout>,
        tree: &Path,
    ) -> Result<HashMap<&'a [u8], git::lease::FileStat>, Error> {
        let mut known = HashMap::new();
        if let Some(older) = older {
            for file in main_repo.contents(&older.tree)?.files {
                known.insert(file.path.clone(), file);
            }
        }
        let is_known = |file: &&CommitFile| known.get(&file.path) == Some(file);
        let (same, other): (Vec<_>, Vec<_>) = contents.files.iter().partition(is_known);
        let mut stamps = HashMap::with_capacity(contents.files.len());
        if let Some(older) = older {
            let orders: Vec<FileToWrite<'_>> = same.iter().map(|file| (*file, None)).collect();
            let found = write_tree(tree, &orders, FillSource::Links(&older.tree_folder()))?;
            stamps.extend(same.iter().map(|file| file.path.as_slice()).zip(found));
        }
        let orders = self.with_times(main_repo, other.iter().copied());
        let found = write_tree(
            tree,
            &orders,
            FillSource::Objects(self.main_repo, &head.tree),
        )?;
        stamps.extend(other.iter().map(|file| file.path.as_slice()).zip(found));
        Ok(stamps)
    }

    /// Pairs files with the modification times to set: that of the same, unchanged file in the
    /// checkout, so that build outputs stay up to date, or else a time just before now that Git trusts.
    pub(crate) fn with_times<'a>(
        &self,
        main_repo: &MainRepo,
        files: impl Iterator<Item = &'a CommitFile>,
    ) -> Vec<FileToWrite<'a>> {
        let times = main_repo.clean_times();
        let latest = latest_mtime(RealClock::default().wall_ms());
        files
            .map(|file| {
                let time = self.time_of(file, &times);
                (file, Some(time.map_or(latest, |time| time.min(latest))))
            })
            .collect()
    }

    /// The modification time of the same file in the checkout, so that build outputs there stay up
    /// to date.
    fn time_of(
        &self,
        file: &CommitFile,
        times: &HashMap<Vec<u8>, (String, i64, u32)>,
    ) -> Option<FileTime> {
        let (id, seconds, nanoseconds) = times.get(&file.path)?;
        let stat = lstat(self.main_repo.join(to_path(&file.path)).as_path()).ok()?;
        let is_same = *id == file.id
            && stat.st_mtime == *seconds
            && stat.st_mtime_nsec as u64 == u64::from(*nanoseconds);
        is_same.then_some(FileTime {
            seconds: *seconds,
            nanoseconds: *nanoseconds,
        })
    }

    /// The newest base whose files were written by the same rules.
    fn older(&self, fit: &str) -> Option<BaseCheckout> {
        self.all().into_iter().find(|base| {
            let path = self.folder.join(&base.tree).join("base.json");
            json_file::read::<BaseRecord>(&path).is_some_and(|record| record.fit == fit)
        })
    }
}

/// Returns the latest modification time that a file may have if its index is written at `wall_ms`,
/// milliseconds since 1970, or later: most Git versions compare whole seconds. They reread every
/// file with the same second as the index, and then write a new index.
pub(crate) fn latest_mtime(wall_ms: u64) -> FileTime {
    /// File systems take times from a clock that only advances with the kernel's tick.
    const TICK_MS: u64 = 20;
    let second = wall_ms.saturating_sub(TICK_MS) / 1000;
    FileTime {
        seconds: i64::try_from(second).unwrap_or(0) - 1,
        nanoseconds: 999_999_999,
    }
}

/// Waits until the whole base is on the disk, and records that.
fn sync_base(folder: &Path) -> std::io::Result<()> {
    let opened = fs::File::open(folder)?;
    system::sync_file_system(&opened)?;
    let mut mark = fs::File::create(folder.join("settled"))?;
    mark.write_all(b"on the disk\n")?;
    mark.sync_all()
}
