//! The worktrees of one repository: leased, found again, brought into order.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;

use base::{AbsPath, LogErr};
use git::lease::{Head, Hub};
use host::{Clock, RealClock};

use crate::base_tree::{Base, Bases};
use crate::beneath::name_hash;
use crate::error::Error;
use crate::fill::{Source, fill, make_folder};
use crate::git_dir::{self, Own};
use crate::hidden::Hidden;
use crate::inside::{Standing, standing};
use crate::lease::{Lease, LeaseId, resource_name};
use crate::list::check_there;
use crate::monitor;
use crate::mount::{self, Layers};
use crate::mounts;
use crate::owner::{self, Gate, Lock, Owner};
use crate::record::{self, LeaseRecord, Whole};
use crate::rung::{Ladder, Rung, ladder};
use crate::settings::Settings;
use crate::share::{self, Plan};
use crate::warm_index::WarmIndex;
use crate::{ports, sweep};

/// The leases of one repository. Cheap to open; can be shared between threads.
#[derive(Debug)]
pub struct Pool {
    pub(crate) hub: AbsPath,
    /// Holds the leases of every repository.
    pub(crate) top: PathBuf,
    /// Holds those of this one.
    pub(crate) folder: PathBuf,
    pub(crate) key: String,
    pub(crate) settings: Settings,
    clock: RealClock,
}

/// What leases are to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How many.
    pub count: usize,
    /// Whether they stay with the person, or with this process for as long as it lives.
    pub is_kept: bool,
    /// Whether what is not committed in the checkout comes along.
    pub with_changes: bool,
}

/// What all leases made at once have in common.
pub(crate) struct Making<'a> {
    pub(crate) hub: &'a Hub,
    /// What the branch starts at.
    pub(crate) start: Head,
    /// What the work is compared with when it lands.
    pub(crate) base_commit: String,
    pub(crate) rung: Rung,
    /// What leases begin with in which git is told what changed.
    pub(crate) warm: Option<WarmIndex>,
    pub(crate) owner: Owner,
    pub(crate) plan: Plan,
    /// Absent where trees are filled without one.
    pub(crate) base: Option<Base>,
    pub(crate) caveats: Vec<String>,
}

/// What is still to be done in a tree before its lease is ready.
pub(crate) type Finish<'a> = &'a dyn Fn(&Lease) -> Result<(), Error>;

impl Pool {
    /// The leases of the repository that holds `hub`, below the state folder `state`.
    pub fn open(hub: &AbsPath, state: &AbsPath, settings: Settings) -> Result<Self, Error> {
        let opened = Hub::open(hub)?;
        let top = state.as_path().join("worktrees");
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if real(opened.workdir().as_path()).starts_with(real(&top)) {
            return Err(Error::Refused(format!(
                "{} is itself a leased worktree; lease from the checkout it came from",
                opened.workdir()
            )));
        }
        let common = opened.common_dir();
        let name: String = opened
            .workdir()
            .name()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
            .take(24)
            .collect();
        let key = format!("{name}-{}", &name_hash(&common)[..8]);
        let folder = top.join(&key);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        for path in ["base", "leases", "gone"].map(|name| folder.join(name)) {
            builder
                .create(&path)
                .map_err(Error::file("create", &path))?;
        }
        let ports = top.join("ports");
        builder
            .create(&ports)
            .map_err(Error::file("create", &ports))?;
        // A lock that a killed process left in the hub would be in everybody's way.
        Hidden::of(&opened).clear_stale()?;
        let pool = Self {
            hub: opened.workdir().clone(),
            top,
            folder,
            key,
            settings,
            clock: RealClock::default(),
        };
        pool.clear_mounts()?;
        Ok(pool)
    }

    /// The checkout that leases come from.
    pub fn hub(&self) -> &AbsPath {
        &self.hub
    }

    /// How trees are made here, and why not better.
    pub fn ladder(&self) -> Result<Ladder, Error> {
        ladder(&self.folder, &self.top.join("rungs.json"))
    }

    /// Makes the base of the commit that is checked out, so that leasing need not. Takes as long as a checkout, or as
    /// what changed since the last base.
    pub fn warm(&self) -> Result<Base, Error> {
        let hub = Hub::open(&self.hub)?;
        let head = hub.head()?;
        Hidden::of(&hub).set(&pin(&head.commit), &head.commit)?;
        self.base(&hub, &head)
    }

    fn base(&self, hub: &Hub, head: &Head) -> Result<Base, Error> {
        self.bases().make(hub, head, &|base| {
            // Without it git looks at every file, which takes longer and comes to the same.
            self.note_base(hub, head, base).log_err();
        })
    }

    /// Has git note what it would find out about a base by looking.
    fn note_base(&self, hub: &Hub, head: &Head, base: &Path) -> Result<(), Error> {
        let is_overlay = match self.settings.rung {
            Some(rung) => rung == Rung::Overlay,
            None => self.ladder()?.rung == Rung::Overlay,
        };
        let Some(program) = self.settings.monitor.as_deref().filter(|_| is_overlay) else {
            return Ok(());
        };
        let by_user = standing() != Standing::Root;
        let shallow = hub.shallow_ends();
        let own = Own {
            branch: "burin/base",
            commit: &head.commit,
            base: &head.commit,
            hub_branch: None,
            config: "",
            shallow: shallow.as_deref(),
        };
        let config =
            |layer: &Path| hub.lease_config(monitor::command(program, layer, by_user).as_deref());
        let trial = self
            .folder
            .join(format!("{}{}.index", mounts::PROBE, std::process::id()));
        WarmIndex::make(base, &trial, &own, &config, by_user)
    }

    /// Leases worktrees of the commit that is checked out. In a cold pool the first call waits for `warm`.
    pub fn lease(&self, wanted: Wanted) -> Result<Vec<Lease>, Error> {
        let hub = Hub::open(&self.hub)?;
        let head = hub.head()?;
        let _gate = Gate::wait(&self.folder.join("lock"))?;
        let owner = match wanted.is_kept {
            true => Owner::Person,
            false => Owner::this(),
        };
        let commit = head.commit.clone();
        let mut making = self.making(&hub, head, commit, owner)?;
        if wanted.with_changes {
            let unmerged = hub.unmerged()?;
            let unmerged = unmerged.iter().map(|name| String::from_utf8_lossy(name));
            making.caveats.extend(unmerged.map(|name| {
                let name = base::printable(&name, base::LineFeeds::Escape);
                format!(
                    "{name} is in conflict in your checkout and was not brought along; it is as it was committed"
                )
            }));
        }
        let with_changes = |lease: &Lease| lease.carry_in(&self.hub).map(drop);
        let finish: Option<Finish<'_>> = match wanted.with_changes {
            true => Some(&with_changes),
            false => None,
        };
        let mut leases = Vec::with_capacity(wanted.count);
        for _ in 0..wanted.count {
            leases.push(self.create(&mut making, None, finish)?);
        }
        self.settle(&leases);
        Ok(leases)
    }

    /// Takes a lease that nobody holds, as it is: one that a crash left, or a person's own.
    pub fn take(&self, id: &LeaseId) -> Result<Lease, Error> {
        let (folder, mut record) = self.record(id)?;
        let lock = self.lock(id, &folder)?;
        check_there(&record, &folder)?;
        self.mount_again(&record, &folder)?;
        // A person's stays theirs, whoever works in it for a while.
        if record.owner != Owner::Person {
            record.owner = Owner::this();
        }
        record::write(&folder.join("lease.json"), &record)?;
        Lease::of(&record, &folder, Some(lock))
    }

    /// Has a lease stay with the person when this process ends.
    pub fn keep(&self, lease: &mut Lease) -> Result<(), Error> {
        let (folder, mut record) = self.record(&lease.id)?;
        record.owner = Owner::Person;
        record::write(&folder.join("lease.json"), &record)?;
        lease.owner = Owner::Person;
        Ok(())
    }

    /// Runs the commands that make a lease ready. A failure is noted in the lease.
    pub fn set_up(&self, lease: &mut Lease, runner: &dyn crate::Runner) -> Result<(), Error> {
        let done = crate::setup::run_all(lease, &self.settings.setup, runner);
        let (folder, mut record) = self.record(&lease.id)?;
        record.set_up.clone_from(&done);
        lease.set_up = done;
        record::write(&folder.join("lease.json"), &record)
    }

    /// Runs the commands that clean up before a lease goes; what failed, if something did.
    pub fn tear_down(&self, lease: &Lease, runner: &dyn crate::Runner) -> Option<crate::SetUp> {
        crate::setup::run_all(lease, &self.settings.teardown, runner).filter(|done| !done.is_done)
    }

    /// Notes that the work up to `commit` has landed, in whatever form: it counts as merged from now on.
    pub fn note_landed(&self, id: &LeaseId, commit: &str) -> Result<(), Error> {
        let (folder, mut record) = self.record(id)?;
        record.landed = Some(commit.to_owned());
        record::write(&folder.join("lease.json"), &record)
    }

    /// Notes that all that lies in a lease has landed: its `tree`, as git would keep it, went into `commit` of the
    /// checkout. From then on it can be retired, as long as it holds just that.
    pub fn note_whole(&self, id: &LeaseId, tree: &str, commit: &str) -> Result<(), Error> {
        let (folder, mut record) = self.record(id)?;
        record.whole = Some(Whole {
            tree: tree.to_owned(),
            commit: commit.to_owned(),
        });
        record::write(&folder.join("lease.json"), &record)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.wall_ms()
    }

    pub(crate) fn bases(&self) -> Bases<'_> {
        Bases {
            folder: self.folder.join("base"),
            hub: &self.hub,
        }
    }

    pub(crate) fn lease_folder(&self, id: &LeaseId) -> PathBuf {
        self.folder.join("leases").join(id.as_str())
    }

    pub(crate) fn record(&self, id: &LeaseId) -> Result<(PathBuf, LeaseRecord), Error> {
        let folder = self.lease_folder(id);
        let path = folder.join("lease.json");
        if let Some(record) = record::read(&path) {
            return Ok((folder, record));
        }
        // It may have been put away since its folder was found: asked in this order, that is not taken for a tear.
        Err(match (path.exists(), folder.is_dir()) {
            (true, _) => Error::Spoilt {
                id: id.to_string(),
                what: "its record is torn; release it".to_owned(),
            },
            (false, true) => Error::Unready(id.to_string()),
            (false, false) => Error::Unknown(id.to_string()),
        })
    }

    pub(crate) fn lock(&self, id: &LeaseId, folder: &Path) -> Result<Lock, Error> {
        owner::lock(folder)?.ok_or_else(|| {
            let record: Option<LeaseRecord> = record::read(&folder.join("lease.json"));
            Error::Held {
                id: id.to_string(),
                owner: record.map_or("a living process".to_owned(), |record| {
                    record.owner.to_string()
                }),
            }
        })
    }

    /// What leases that start at `start` have in common. Makes the base.
    pub(crate) fn making<'a>(
        &self,
        hub: &'a Hub,
        start: Head,
        base_commit: String,
        owner: Owner,
    ) -> Result<Making<'a>, Error> {
        let rung = match self.settings.rung {
            Some(rung) => rung,
            None => self.ladder()?.rung,
        };
        for commit in [&start.commit, &base_commit] {
            Hidden::of(hub).set(&pin(commit), commit)?;
        }
        let base = match rung {
            Rung::Fill => None,
            _ => Some(self.base(hub, &start)?),
        };
        let caveats = match &base {
            Some(base) => base.caveats.clone(),
            None => hub.caveats(&hub.contents(&start.tree)?),
        };
        let base_tree = base.as_ref().map(Base::tree_folder).unwrap_or_default();
        let warm = match (rung, &base) {
            (Rung::Overlay, Some(base)) if self.settings.monitor.is_some() => {
                WarmIndex::of(&self.bases().folder.join(&base.tree))
            }
            _ => None,
        };
        Ok(Making {
            plan: Plan::new(hub, &base_tree, &self.settings),
            warm,
            hub,
            start,
            base_commit,
            rung,
            owner,
            base,
            caveats,
        })
    }

    /// Makes one lease. Where a way fails, the next one is taken, for the leases after it too.
    pub(crate) fn create(
        &self,
        making: &mut Making<'_>,
        wanted: Option<&LeaseId>,
        finish: Option<Finish<'_>>,
    ) -> Result<Lease, Error> {
        loop {
            let (id, folder) = self.claim(wanted)?;
            let done = self.create_in(making, &id, &folder, finish);
            let error = match done {
                Ok(lease) => return Ok(lease),
                Err(error) => error,
            };
            self.clear(&folder)?;
            let next = Rung::ALL.into_iter().find(|rung| *rung > making.rung);
            let is_final = self.settings.rung.is_some() || !matches!(error, Error::File { .. });
            let Some(next) = next.filter(|_| !is_final) else {
                return Err(error);
            };
            let words = format!(
                "made by {} because {} failed: {error}",
                next.name(),
                making.rung.name()
            );
            making.caveats.push(words);
            making.rung = next;
        }
    }

    fn create_in(
        &self,
        making: &Making<'_>,
        id: &LeaseId,
        folder: &Path,
        finish: Option<Finish<'_>>,
    ) -> Result<Lease, Error> {
        let lock = self.lock(id, folder)?;
        let branch = format!("burin/{id}");
        let by_user = standing() != Standing::Root;
        let monitor = self.monitor(making, folder, by_user);
        let config = making.hub.lease_config(monitor.as_deref());
        self.make_tree(making, folder, &branch, &config, by_user)?;
        let root = folder.join("mnt/tree");
        let shared = making
            .plan
            .apply(&self.hub, folder, &root, making.rung, by_user)?;
        let block = {
            let _gate = Gate::wait(&self.top.join("lock"))?;
            ports::claim(&self.top.join("ports"), self.settings.first_port, folder)?
        };
        let record = LeaseRecord {
            version: record::VERSION,
            id: id.to_string(),
            hub: self.hub.to_string(),
            commit: making.base_commit.clone(),
            start: making.start.commit.clone(),
            tree: making.start.tree.clone(),
            branch,
            rung: making.rung,
            by_user,
            ports: block,
            name: resource_name(&self.hub, &self.key, id),
            created_ms: self.now_ms(),
            owner: making.owner.clone(),
            config,
            has_monitor: monitor.is_some(),
            shared,
            caveats: making.caveats.clone(),
            set_up: None,
            landed: None,
            whole: None,
        };
        let is_kept = record.owner == Owner::Person;
        let mut lease = Lease::of(&record, folder, Some(lock))?;
        if let Some(finish) = finish {
            finish(&lease)?;
        }
        record::write(&folder.join("lease.json"), &record)?;
        if is_kept {
            lease._lock = None;
        }
        Ok(lease)
    }

    fn make_tree(
        &self,
        making: &Making<'_>,
        folder: &Path,
        branch: &str,
        config: &str,
        by_user: bool,
    ) -> Result<(), Error> {
        let shallow = making.hub.shallow_ends();
        let own = Own {
            branch,
            commit: &making.start.commit,
            base: &making.base_commit,
            hub_branch: making.start.branch.as_deref(),
            config,
            shallow: shallow.as_deref(),
        };
        let mnt = folder.join("mnt");
        make_folder(&mnt)?;
        let Some(base) = making
            .base
            .as_ref()
            .filter(|_| making.rung == Rung::Overlay)
        else {
            return self.make_files(making, &mnt, &own);
        };
        let upper = folder.join("upper");
        // What git is told of must be there to be looked into.
        for path in [
            &upper,
            &upper.join("git"),
            &upper.join("tree"),
            &folder.join("work"),
        ] {
            make_folder(path)?;
        }
        git_dir::write_own(&upper.join("git"), &own)?;
        making.plan.prepare(&upper.join("tree"))?;
        mount_tree(&base.layer, folder, making.warm.as_ref(), by_user)
            .map_err(Error::file("mount", &mnt))
    }

    /// How git asks what changed in a lease, where it can be told.
    fn monitor(&self, making: &Making<'_>, folder: &Path, by_user: bool) -> Option<String> {
        let program = self.settings.monitor.as_deref();
        let is_told = making.rung == Rung::Overlay && making.warm.is_some();
        let program = program.filter(|_| is_told)?;
        monitor::command(program, &folder.join("upper/tree"), by_user)
    }

    /// A tree of files of its own.
    fn make_files(&self, making: &Making<'_>, mnt: &Path, own: &Own<'_>) -> Result<(), Error> {
        let (tree, git) = (mnt.join("tree"), mnt.join("git"));
        make_folder(&tree)?;
        make_folder(&git)?;
        let contents = making.hub.contents(&making.start.tree)?;
        let orders = self.bases().timed(making.hub, contents.files.iter());
        let from = making
            .base
            .as_ref()
            .map(Base::tree_folder)
            .unwrap_or_default();
        let source = match making.rung {
            Rung::Reflink => Source::Clones(&from),
            Rung::Copy if making.base.is_some() => Source::Copies(&from),
            _ => Source::Objects(&self.hub, &making.start.tree),
        };
        let stamps = fill(&tree, &orders, source)?;
        for submodule in &contents.submodules {
            let path = tree.join(crate::fill::as_path(submodule));
            fs::create_dir_all(&path).map_err(Error::file("create", &path))?;
        }
        let pointer = tree.join(".git");
        fs::write(&pointer, "gitdir: ../git\n").map_err(Error::file("write", &pointer))?;
        git_dir::write_common(making.hub, &git)?;
        git_dir::write_own(&git, own)?;
        let files = contents.files.iter().zip(stamps);
        git::lease::write_index(making.hub, &making.start.tree, files, &git.join("index"))?;
        Ok(())
    }

    /// A name that no lease had, and its folder. Called with the lock of the repository's leases held.
    fn claim(&self, wanted: Option<&LeaseId>) -> Result<(LeaseId, PathBuf), Error> {
        let counter = self.folder.join("next");
        let highest = self.ids().iter().map(LeaseId::number).max().unwrap_or(0);
        let noted = match record::read::<u64>(&counter) {
            Some(noted) => noted,
            // What is archived must not be written over under the same name.
            None => self.behind_archives()?,
        };
        let mut number = noted.max(highest + 1);
        let mut id = wanted.cloned().unwrap_or_else(|| LeaseId::numbered(number));
        loop {
            let folder = self.lease_folder(&id);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    record::write(&counter, &(number + 1))?;
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

    /// The first number that no archive has.
    fn behind_archives(&self) -> Result<u64, Error> {
        let archives = Hub::open(&self.hub)?.archives()?;
        let ids = archives.iter().filter_map(|it| LeaseId::parse(&it.name));
        Ok(ids.map(|id| id.number()).max().unwrap_or(0) + 1)
    }

    /// Clears away what a killed program left of a lease it was making; whether that was so. Called with the lock of
    /// the repository's leases held, so that nobody is making it now.
    fn clear_unready(&self, id: &LeaseId, folder: &Path) -> Result<bool, Error> {
        if !matches!(self.record(id), Err(Error::Unready(_))) {
            return Ok(false);
        }
        let Some(_lock) = owner::lock(folder)? else {
            return Ok(false);
        };
        self.clear(folder)?;
        Ok(true)
    }

    /// The names of all leases, ready or not, oldest first.
    pub(crate) fn ids(&self) -> Vec<LeaseId> {
        let entries = fs::read_dir(self.folder.join("leases"));
        let mut ids: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| LeaseId::parse(&entry.file_name().to_string_lossy()))
            .collect();
        ids.sort_by_key(LeaseId::number);
        ids
    }

    /// Takes a lease's folder out of sight, then away. Killed in between, `gc` finds the rest.
    pub(crate) fn clear(&self, folder: &Path) -> Result<(), Error> {
        mount::detach_below(folder).map_err(Error::file("unmount below", folder))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut gone = self.folder.join("gone").join(&*name);
        let mut count = 0;
        while gone.exists() {
            count += 1;
            gone = self.folder.join("gone").join(format!("{name}.{count}"));
        }
        fs::rename(folder, &gone).map_err(Error::file("put aside", folder))?;
        sweep::remove(&gone).map_err(Error::file("remove", &gone))
    }

    /// Makes sure that the tree of a lease can be seen by this process. Needs the lease's lock where it was not mounted.
    pub(crate) fn mount_again(&self, record: &LeaseRecord, folder: &Path) -> Result<(), Error> {
        let mnt = folder.join("mnt");
        if record.rung != Rung::Overlay {
            return Ok(());
        }
        if !mount::is_mounted(&mnt) {
            let can = match standing() {
                Standing::Root => true,
                Standing::Namespace => record.by_user,
                Standing::Plain => false,
            };
            if !can {
                return Err(Error::Refused(format!(
                    "lease {} is an overlay, which this process may not mount; ask as {}",
                    record.id,
                    if record.by_user {
                        "the user who made it, in Burin"
                    } else {
                        "root"
                    }
                )));
            }
            let base = self.bases().folder.join(&record.tree);
            let warm = match record.has_monitor {
                true => WarmIndex::of(&base),
                false => None,
            };
            mount_tree(&base.join("layer"), folder, warm.as_ref(), record.by_user)
                .map_err(Error::file("mount", &mnt))?;
        }
        let root = mnt.join("tree");
        for problem in share::mount_again(&record.shared, &self.hub, folder, &root, record.by_user)
        {
            base::report(&problem);
        }
        Ok(())
    }

    /// Has the records reach the disk, without anybody waiting for it.
    fn settle(&self, leases: &[Lease]) {
        let records: Vec<_> = leases
            .iter()
            .map(|lease| lease.folder.join("lease.json"))
            .collect();
        thread::spawn(move || {
            for record in records {
                // A lease that was released meanwhile needs it no more.
                if record.exists() {
                    record::settle(&record).log_err();
                }
            }
        });
    }
}

/// The hidden ref that keeps a commit.
pub(crate) fn pin(commit: &str) -> String {
    format!("base/{commit}")
}

/// Mounts the tree of a lease over a base; with the index that is given, where git did not write one of its own.
fn mount_tree(
    base: &Path,
    folder: &Path,
    warm: Option<&WarmIndex>,
    by_user: bool,
) -> std::io::Result<()> {
    let (upper, work, mnt) = (
        folder.join("upper"),
        folder.join("work"),
        folder.join("mnt"),
    );
    let mount = |lower: &[&Path]| {
        let (upper, work) = (upper.as_path(), work.as_path());
        mount::overlay(Layers { lower, upper, work }, &mnt, by_user)
    };
    if let Some(warm) = warm.filter(|_| !upper.join("git/index").exists()) {
        let above = folder.join("warm");
        let laid = warm.lay(&above, &mnt.join("tree"));
        let mounted = laid.and_then(|()| mount(&[&above, base]));
        // An overlay holds what it stands on, seen or not.
        mount::detach(&above)?;
        if mounted.log_err().is_some() {
            return Ok(());
        }
    }
    mount(&[base])
}
