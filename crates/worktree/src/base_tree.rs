//! Bases: checkouts of a commit that are written once and then only looked at.
//!
//! Invariant: the files of a whole base are never written; they may have further names in other bases.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use base::{AbsPath, LogErr};
use git::lease::{Contents, FileTime, Head, Hub, Reader, TreeFile, write_index};
use host::{Clock, RealClock};
use rustix::fs::lstat;

use crate::error::Error;
use crate::fill::{Order, Source, as_path, fill, make_folder, to_path};
use crate::git_dir;
use crate::owner::Gate;
use crate::record::{self, BaseRecord};
use crate::sweep;

/// A checkout of one tree that leases stand on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The id of its tree.
    pub tree: String,
    /// How many files it has.
    pub files: usize,
    /// Their length altogether, in bytes.
    pub bytes: u64,
    /// What its leases will not have that the checkout has, as sentences.
    pub caveats: Vec<String>,
    /// Holds `tree` and `git`.
    pub(crate) layer: PathBuf,
}

impl Base {
    pub(crate) fn tree_folder(&self) -> PathBuf {
        self.layer.join("tree")
    }
}

/// Where the bases of one repository lie.
pub(crate) struct Bases<'a> {
    pub(crate) folder: PathBuf,
    pub(crate) hub: &'a AbsPath,
}

impl Bases<'_> {
    /// The base of `tree`, if it is whole.
    pub(crate) fn find(&self, tree: &str) -> Option<Base> {
        let folder = self.folder.join(tree);
        let record: BaseRecord = record::read(&folder.join("base.json"))?;
        // Files written shortly before the machine died may be empty; what a sync confirmed is not.
        let is_safe = folder.join("settled").exists() || record.boot == boot();
        (record.version == record::VERSION && is_safe).then(|| Base {
            tree: record.tree,
            files: record.files,
            bytes: record.bytes,
            caveats: record.caveats,
            layer: folder.join("layer"),
        })
    }

    /// The base of `head`, made when there is none; `finish` is given its folder before it is whole. Blocks while somebody
    /// else makes one.
    pub(crate) fn make(
        &self,
        hub: &Hub,
        head: &Head,
        finish: &dyn Fn(&Path),
    ) -> Result<Base, Error> {
        if let Some(base) = self.find(&head.tree) {
            return Ok(base);
        }
        let _gate = Gate::wait(&self.folder.join("lock"))?;
        if let Some(base) = self.find(&head.tree) {
            return Ok(base);
        }
        let making = self.folder.join(format!("{}.making", head.tree));
        let whole = self.folder.join(&head.tree);
        for leftover in [&making, &whole] {
            sweep::remove(leftover).map_err(Error::file("clear", leftover))?;
        }
        let record = self.write(hub, head, &making.join("layer"), &making)?;
        finish(&making);
        record::write(&making.join("base.json"), &record)?;
        fs::rename(&making, &whole).map_err(Error::file("name", &whole))?;
        let settled = whole.clone();
        thread::spawn(move || settle(&settled).log_err());
        self.find(&head.tree)
            .ok_or_else(|| Error::Refused(format!("{} was taken away", whole.display())))
    }

    /// The trees of all whole bases, the one made last first.
    pub(crate) fn all(&self) -> Vec<Base> {
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

    fn write(
        &self,
        hub: &Hub,
        head: &Head,
        layer: &Path,
        making: &Path,
    ) -> Result<BaseRecord, Error> {
        let contents = hub.contents(&head.tree)?;
        for folder in [making, layer, &layer.join("tree"), &layer.join("git")] {
            make_folder(folder)?;
        }
        let fit = Reader::open(self.hub, &head.tree)?.words(&contents);
        let tree = layer.join("tree");
        let older = self.older(&fit);
        let stamps = self.write_files(hub, head, &contents, older.as_ref(), &tree)?;
        for submodule in &contents.submodules {
            let path = tree.join(as_path(submodule));
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let pointer = tree.join(".git");
        fs::write(&pointer, "gitdir: ../git\n").map_err(Error::file("write", &pointer))?;
        git_dir::write_common(hub, &layer.join("git"))?;
        let bytes = stamps.values().map(|stamped| stamped.size).sum();
        let files = contents
            .files
            .iter()
            .filter_map(|file| Some((file, *stamps.get(file.path.as_slice())?)));
        write_index(hub, &head.tree, files, &layer.join("git/index"))?;
        Ok(BaseRecord {
            version: record::VERSION,
            tree: head.tree.clone(),
            fit,
            files: contents.files.len(),
            bytes,
            caveats: hub.caveats(&contents),
            boot: boot(),
        })
    }

    /// Writes every file: those an older base has get a second name, the others come from git's objects.
    fn write_files<'a>(
        &self,
        hub: &Hub,
        head: &Head,
        contents: &'a Contents,
        older: Option<&Base>,
        tree: &Path,
    ) -> Result<HashMap<&'a [u8], git::lease::Stamped>, Error> {
        let mut known = HashMap::new();
        if let Some(older) = older {
            for file in hub.contents(&older.tree)?.files {
                known.insert(file.path.clone(), file);
            }
        }
        let is_known = |file: &&TreeFile| known.get(&file.path) == Some(file);
        let (same, other): (Vec<_>, Vec<_>) = contents.files.iter().partition(is_known);
        let mut stamps = HashMap::with_capacity(contents.files.len());
        if let Some(older) = older {
            let orders: Vec<Order<'_>> = same.iter().map(|file| (*file, None)).collect();
            let found = fill(tree, &orders, Source::Links(&older.tree_folder()))?;
            stamps.extend(same.iter().map(|file| file.path.as_slice()).zip(found));
        }
        let orders = self.timed(hub, other.iter().copied());
        let found = fill(tree, &orders, Source::Objects(self.hub, &head.tree))?;
        stamps.extend(other.iter().map(|file| file.path.as_slice()).zip(found));
        Ok(stamps)
    }

    /// Files with the times they are to bear.
    pub(crate) fn timed<'a>(
        &self,
        hub: &Hub,
        files: impl Iterator<Item = &'a TreeFile>,
    ) -> Vec<Order<'a>> {
        let times = hub.clean_times();
        let latest = latest(RealClock::default().wall_ms());
        files
            .map(|file| {
                let time = self.time_of(file, &times);
                (file, Some(time.map_or(latest, |time| time.min(latest))))
            })
            .collect()
    }

    /// When the checkout's file was written, if it holds the same: what was built from it is as old as that.
    fn time_of(
        &self,
        file: &TreeFile,
        times: &HashMap<Vec<u8>, (String, i64, u32)>,
    ) -> Option<FileTime> {
        let (id, seconds, nanoseconds) = times.get(&file.path)?;
        let stat = lstat(self.hub.join(to_path(&file.path)).as_path()).ok()?;
        let is_same = *id == file.id
            && stat.st_mtime == *seconds
            && stat.st_mtime_nsec as u64 == u64::from(*nanoseconds);
        is_same.then_some(FileTime {
            seconds: *seconds,
            nanoseconds: *nanoseconds,
        })
    }

    /// The base made last whose files were written by the same rules.
    fn older(&self, fit: &str) -> Option<Base> {
        self.all().into_iter().find(|base| {
            let path = self.folder.join(&base.tree).join("base.json");
            record::read::<BaseRecord>(&path).is_some_and(|record| record.fit == fit)
        })
    }
}

/// The latest time that a file may bear when its index is written now: most gits tell times apart by the second alone.
/// They read every file anew whose second is the index's, and then write an index of their own.
fn latest(wall_ms: u64) -> FileTime {
    /// File systems set times by a clock that stands still between the ticks of the machine.
    const TICK_MS: u64 = 20;
    let second = wall_ms.saturating_sub(TICK_MS) / 1000;
    FileTime {
        seconds: i64::try_from(second).unwrap_or(0) - 1,
        nanoseconds: 999_999_999,
    }
}

/// Which run of the machine this is.
fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim().to_owned()
}

/// Waits until everything of a base is on the disk, and notes it.
fn settle(folder: &Path) -> std::io::Result<()> {
    let opened = fs::File::open(folder)?;
    rustix::fs::syncfs(&opened)?;
    let mut mark = fs::File::create(folder.join("settled"))?;
    mark.write_all(b"on the disk\n")?;
    mark.sync_all()
}
