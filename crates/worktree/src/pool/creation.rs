//! Creation of leases: the parts that they share, their names, their trees.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base::NameRules;
use git::lease::{CommitContents, FileStat, HeadCommit, MainRepo};

use super::{WorktreePool, base_ref, mount_tree};
use crate::backend::TreeBackend;
use crate::base_tree::{BaseCheckout, latest_mtime};
use crate::clone;
use crate::error::Error;
use crate::fill::{FillSource, make_folder, stamp_tree, write_tree};
use crate::fsmonitor;
use crate::git_dir::{self, OwnGitFiles};
use crate::hidden_refs::HiddenRefs;
use crate::json_file;
use crate::lease::{Lease, LeaseId, resource_name};
use crate::mount::{MountPrivilege, current_privilege};
use crate::owner::{self, BlockingLock, Owner};
use crate::ports;
use crate::record::{self, LeaseRecord};
use crate::share::SharePlan;
use crate::warm_index::WarmIndex;

/// The common parts of leases that are made together.
pub(crate) struct LeaseDraft<'a> {
    pub(crate) main_repo: &'a MainRepo,
    /// The commit at which the branch starts.
    pub(crate) start: HeadCommit,
    /// The commit against which the work is compared when it lands.
    pub(crate) base_commit: String,
    pub(crate) backend: TreeBackend,
    /// The rules by which the volume of the pool compares names.
    pub(crate) names: NameRules,
    /// The prepared index for leases with a file system monitor.
    pub(crate) warm: Option<WarmIndex>,
    pub(crate) owner: Owner,
    pub(crate) plan: SharePlan,
    /// The base; `None` for a backend without bases.
    pub(crate) base: Option<BaseCheckout>,
    pub(crate) caveats: Vec<String>,
}

/// A last step in the tree before the lease counts as complete.
pub(crate) type Finish<'a> = &'a dyn Fn(&Lease) -> Result<(), Error>;

impl WorktreePool {
    /// Prepares the common parts of leases that start at `start`, including the base; `base_commit` is
    /// the one against which their work is compared.
    ///
    /// # Errors
    /// Before anything is made: `UnusableVolume` and `SameName`.
    pub(crate) fn draft<'a>(
        &self,
        main_repo: &'a MainRepo,
        start: HeadCommit,
        base_commit: String,
        owner: Owner,
    ) -> Result<LeaseDraft<'a>, Error> {
        let volume = self.check_volume(main_repo, &start.tree)?;
        let backend = self.settings.backend.unwrap_or(volume.support.backend);
        for commit in [&start.commit, &base_commit] {
            HiddenRefs::new(main_repo).set(&base_ref(commit), commit)?;
        }
        let base = match backend {
            TreeBackend::Fill => None,
            _ => Some(self.base(main_repo, &start)?),
        };
        let mut caveats = match &base {
            Some(base) => base.caveats.clone(),
            None => main_repo.caveats(&main_repo.contents(&start.tree)?),
        };
        caveats.extend(volume.caveats);
        let base_tree = base
            .as_ref()
            .map(BaseCheckout::tree_folder)
            .unwrap_or_default();
        let warm = match (backend, &base) {
            (TreeBackend::Overlay, Some(base)) if self.settings.monitor.is_some() => {
                WarmIndex::load(&self.bases().folder.join(&base.tree))
            }
            _ => None,
        };
        Ok(LeaseDraft {
            plan: SharePlan::new(main_repo, &base_tree, &self.settings),
            warm,
            main_repo,
            start,
            base_commit,
            backend,
            names: volume.support.volume.names(),
            owner,
            base,
            caveats,
        })
    }

    /// Makes one lease with the name `wanted`, or the next free one; `finish` is the last step before it
    /// counts as complete. If a backend fails, this and all following leases use the next one. The
    /// caller holds the lock of the repository's leases.
    pub(crate) fn create(
        &self,
        draft: &mut LeaseDraft<'_>,
        wanted: Option<&LeaseId>,
        finish: Option<Finish<'_>>,
    ) -> Result<Lease, Error> {
        loop {
            let (id, folder) = self.claim(wanted)?;
            let done = self.create_in(draft, &id, &folder, finish);
            let error = match done {
                Ok(lease) => return Ok(lease),
                Err(error) => error,
            };
            self.remove_lease_folder(&folder)?;
            let next = TreeBackend::ALL
                .into_iter()
                .find(|backend| *backend > draft.backend && backend.exists_here());
            let is_final = self.settings.backend.is_some() || !matches!(error, Error::File { .. });
            let Some(next) = next.filter(|_| !is_final) else {
                return Err(error);
            };
            let words = format!(
                "created by {} because {} failed: {error}",
                next.name(),
                draft.backend.name()
            );
            draft.caveats.push(words);
            draft.backend = next;
        }
    }

    /// Makes a lease in the claimed folder `folder`: its tree, shared paths, ports and record.
    /// `finish` runs before the record is written. On failure, the caller removes what was made.
    fn create_in(
        &self,
        draft: &LeaseDraft<'_>,
        id: &LeaseId,
        folder: &Path,
        finish: Option<Finish<'_>>,
    ) -> Result<Lease, Error> {
        let lock = self.lock(id, folder)?;
        let branch = format!("burin/{id}");
        let by_user = current_privilege() != MountPrivilege::Root;
        let monitor = self.monitor(draft, folder, by_user);
        let config = draft
            .main_repo
            .lease_config(monitor.as_deref(), draft.names);
        self.make_tree(draft, folder, &branch, &config, by_user)?;
        let root = folder.join("mnt/tree");
        let shared = draft
            .plan
            .apply(&self.main_repo, folder, &root, draft.backend, by_user)?;
        let block = {
            let _gate = BlockingLock::wait(&self.top.join("lock"))?;
            ports::claim(&self.top.join("ports"), self.settings.first_port, folder)?
        };
        let record = LeaseRecord {
            version: record::VERSION,
            id: id.to_string(),
            main_repo: self.main_repo.to_string(),
            commit: draft.base_commit.clone(),
            start: draft.start.commit.clone(),
            tree: draft.start.tree.clone(),
            branch,
            backend: draft.backend,
            by_user,
            ports: block,
            name: resource_name(&self.main_repo, &self.key, id),
            created_ms: self.now_ms(),
            owner: draft.owner.clone(),
            config,
            has_monitor: monitor.is_some(),
            shared,
            caveats: draft.caveats.clone(),
            landed: None,
            whole: None,
        };
        let is_kept = record.owner == Owner::Person;
        let mut lease = Lease::from_record(&record, folder, Some(lock))?;
        if let Some(finish) = finish {
            finish(&lease)?;
        }
        json_file::write(&folder.join("lease.json"), &record)?;
        if is_kept {
            lease._lock = None;
        }
        Ok(lease)
    }

    /// Makes the tree and the git folder of a lease: mounts an overlay over the base, or writes all
    /// files with another backend. `by_user`: the overlay is mounted without being root.
    fn make_tree(
        &self,
        draft: &LeaseDraft<'_>,
        folder: &Path,
        branch: &str,
        config: &str,
        by_user: bool,
    ) -> Result<(), Error> {
        let shallow = draft.main_repo.shallow_ends();
        let own = OwnGitFiles {
            branch,
            commit: &draft.start.commit,
            base: &draft.base_commit,
            main_branch: draft.start.branch.as_deref(),
            config,
            shallow: shallow.as_deref(),
        };
        let mnt = folder.join("mnt");
        make_folder(&mnt)?;
        let Some(base) = draft
            .base
            .as_ref()
            .filter(|_| draft.backend == TreeBackend::Overlay)
        else {
            return self.make_files(draft, &mnt, &own);
        };
        let upper = folder.join("upper");
        // The monitor needs the upper layer to exist.
        for path in [
            &upper,
            &upper.join("git"),
            &upper.join("tree"),
            &folder.join("work"),
        ] {
            make_folder(path)?;
        }
        git_dir::write_own(&upper.join("git"), &own)?;
        draft.plan.prepare(&upper.join("tree"))?;
        mount_tree(&base.layer, folder, draft.warm.as_ref(), by_user)
            .map_err(Error::file("mount", &mnt))
    }

    /// The monitor command for a lease, if it can have a monitor.
    fn monitor(&self, draft: &LeaseDraft<'_>, folder: &Path, by_user: bool) -> Option<String> {
        let program = self.settings.monitor.as_deref();
        let has_warm_index = draft.backend == TreeBackend::Overlay && draft.warm.is_some();
        let program = program.filter(|_| has_warm_index)?;
        fsmonitor::command(program, &folder.join("upper/tree"), by_user)
    }

    /// Writes a tree with its own files, without an overlay.
    fn make_files(
        &self,
        draft: &LeaseDraft<'_>,
        mnt: &Path,
        own: &OwnGitFiles<'_>,
    ) -> Result<(), Error> {
        let (tree, git) = (mnt.join("tree"), mnt.join("git"));
        make_folder(&git)?;
        let contents = draft.main_repo.contents(&draft.start.tree)?;
        let stamps = self.write_own_files(draft, &tree, &contents)?;
        git_dir::write_common(draft.main_repo, &git)?;
        git_dir::write_own(&git, own)?;
        let files = contents.files.iter().zip(stamps);
        git::lease::write_index(
            draft.main_repo,
            &draft.start.tree,
            files,
            &git.join("index"),
        )?;
        Ok(())
    }

    /// Makes the folder `tree` with all files of a commit, and returns their metadata as they are on
    /// the disk: Git compares inodes and times of change, which no clone or copy keeps.
    fn write_own_files(
        &self,
        draft: &LeaseDraft<'_>,
        tree: &Path,
        contents: &CommitContents,
    ) -> Result<Vec<FileStat>, Error> {
        let base = draft.base.as_ref().map(BaseCheckout::tree_folder);
        if let (TreeBackend::CloneTree, Some(from)) = (draft.backend, &base) {
            clone::tree(from, tree).map_err(Error::file("clone", from))?;
            let latest = latest_mtime(self.now_ms());
            return stamp_tree(tree, &contents.files, latest);
        }
        make_folder(tree)?;
        let orders = self
            .bases()
            .with_times(draft.main_repo, contents.files.iter());
        let source = match (draft.backend, &base) {
            (TreeBackend::Reflink, Some(from)) => FillSource::Clones(from),
            (TreeBackend::Copy, Some(from)) => FillSource::Copies(from),
            _ => FillSource::Objects(&self.main_repo, &draft.start.tree),
        };
        let stamps = write_tree(tree, &orders, source)?;
        for submodule in &contents.submodules {
            let path = tree.join(crate::fill::as_path(submodule));
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let pointer = tree.join(".git");
        fs::write(&pointer, "gitdir: ../git\n").map_err(Error::file("write", &pointer))?;
        Ok(stamps)
    }

    /// Reserves an unused name and creates its folder. The caller holds the lock of the
    /// repository's leases.
    fn claim(&self, wanted: Option<&LeaseId>) -> Result<(LeaseId, PathBuf), Error> {
        let counter = self.folder.join("next");
        let highest = self.ids().iter().map(LeaseId::number).max().unwrap_or(0);
        let noted = match json_file::read::<u64>(&counter) {
            Some(noted) => noted,
            // A new lease must not take the name of an archive.
            None => self.first_free_number()?,
        };
        let mut number = noted.max(highest + 1);
        let mut id = wanted.cloned().unwrap_or_else(|| LeaseId::numbered(number));
        loop {
            let folder = self.lease_folder(&id);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    json_file::write(&counter, &(number + 1))?;
                    return Ok((id, folder));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if wanted == Some(&id) && self.clear_unready(&id, &folder)? {
                        continue;
                    }
                    number += 1;
                    id = LeaseId::numbered(number);
                }
                Err(error) => return Err(Error::file("create", &folder)(error)),
            }
        }
    }

    /// The first number above all archives.
    fn first_free_number(&self) -> Result<u64, Error> {
        let archives = MainRepo::open(&self.main_repo)?.archives()?;
        let ids = archives.iter().filter_map(|it| LeaseId::parse(&it.name));
        Ok(ids.map(|id| id.number()).max().unwrap_or(0) + 1)
    }

    /// Removes the leftover of an interrupted creation, and returns whether there was one. The
    /// caller holds the lock of the repository's leases, so no process is creating it now.
    fn clear_unready(&self, id: &LeaseId, folder: &Path) -> Result<bool, Error> {
        if !matches!(self.record(id), Err(Error::Unready(_))) {
            return Ok(false);
        }
        let Some(_lock) = owner::try_lock(folder)? else {
            return Ok(false);
        };
        self.remove_lease_folder(folder)?;
        Ok(true)
    }
}
