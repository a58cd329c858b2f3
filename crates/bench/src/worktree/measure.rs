//! Measures leases and `git worktree add` in turn on the same generated repository.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::worktree::{Discard, Lease, LeaseRequest, PoolSettings, WorktreePool};
use base::AbsPath;

/// Number of worktrees requested together.
const AGENTS: usize = 8;

/// The results for one size of repository. Times are medians.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    /// Number of files in the repository.
    pub(super) files: usize,
    /// Name of the backend that made the trees.
    pub(super) rung: &'static str,
    /// Time to make the first base.
    pub(super) cold: Duration,
    /// Time to make the base of the next commit, which changes one file in fifty.
    pub(super) next: Duration,
    /// Time for eight leases together.
    pub(super) leases: Duration,
    /// Time for eight runs of `git worktree add`, extrapolated if fewer were made.
    pub(super) git: Duration,
    /// Time of the first `git status` in a fresh lease.
    pub(super) status: Duration,
    /// The same in a fresh worktree of git.
    pub(super) git_status: Duration,
    /// Disk use of one lease in addition to its base, in bytes.
    pub(super) disk: u64,
    /// Median over the rounds of git's time divided by Burin's.
    pub(super) ratio: f64,
}

/// Measures one size of repository below `folder`, which must not exist yet.
pub(super) fn measure(folder: &Path, files: usize) -> Result<Figures, String> {
    let (rounds, adds) = match files {
        0..5_000 => (7, AGENTS),
        5_000..50_000 => (3, 2),
        _ => (1, 1),
    };
    let hub = folder.join("hub");
    repository(&hub, files)?;
    let state = AbsPath::new(folder.join("state")).ok_or("no absolute path")?;
    let hub_path = AbsPath::new(&hub).ok_or("no absolute path")?;
    let say = |error: ::worktree::Error| error.to_string();
    let pool = WorktreePool::open(&hub_path, &state, PoolSettings::for_program()).map_err(say)?;
    let ladder = pool.backend_support().map_err(say)?;
    let cold = timed(|| pool.warm().map_err(say))?.0;
    change(&hub, files)?;
    let next = timed(|| pool.warm().map_err(say))?.0;
    let mut rows = Vec::new();
    for round in 0..rounds {
        rows.push(one_round(&pool, &hub, adds, round)?);
    }
    let median = |of: &dyn Fn(&Round) -> f64| {
        let mut values: Vec<f64> = rows.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let time = |of: &dyn Fn(&Round) -> Duration| {
        Duration::from_secs_f64(median(&|row| of(row).as_secs_f64()))
    };
    Ok(Figures {
        files,
        rung: ladder.backend.name(),
        cold,
        next,
        leases: time(&|row| row.leases),
        git: time(&|row| row.git),
        status: time(&|row| row.status),
        git_status: time(&|row| row.git_status),
        disk: rows.iter().map(|row| row.disk).max().unwrap_or(0),
        ratio: median(&|row| row.git.as_secs_f64() / row.leases.as_secs_f64()),
    })
}

struct Round {
    leases: Duration,
    git: Duration,
    status: Duration,
    git_status: Duration,
    disk: u64,
}

fn one_round(pool: &WorktreePool, hub: &Path, adds: usize, round: usize) -> Result<Round, String> {
    let (leases, held) = lease_all(pool)?;
    let (status, said) = timed(|| git(held[0].root.as_path(), ["status", "--porcelain"]))?;
    if !said.is_empty() {
        return Err(format!("a fresh lease is not clean: {said}"));
    }
    let tree = |folder: &Path| git(folder, ["rev-parse", "HEAD^{tree}"]);
    if tree(held[0].root.as_path())? != tree(hub)? {
        return Err("a fresh lease holds another tree".to_owned());
    }
    let mut disk = 0;
    for lease in &held {
        let shown = pool.status(&lease.id).map_err(|error| error.to_string())?;
        disk = disk.max(shown.size);
    }
    for mut lease in held {
        pool.give_back(&mut lease, Discard::Nothing)
            .map_err(|error| error.to_string())?;
    }
    let (git, git_status) = add_all(hub, adds, round)?;
    Ok(Round {
        leases,
        git,
        status,
        git_status,
        disk,
    })
}

/// Leases eight worktrees; returns them with the time for all.
pub(super) fn lease_all(pool: &WorktreePool) -> Result<(Duration, Vec<Lease>), String> {
    let wanted = LeaseRequest {
        count: AGENTS,
        is_kept: false,
        with_changes: false,
    };
    timed(|| pool.lease(wanted).map_err(|error| error.to_string()))
}

/// Runs `git worktree add` `adds` times. Returns the time extrapolated to eight, and that of the first
/// status in one of them.
pub(super) fn add_all(
    hub: &Path,
    adds: usize,
    round: usize,
) -> Result<(Duration, Duration), String> {
    let place = |ix: usize| hub.with_file_name(format!("git-{round}-{ix}"));
    let add = |ix: usize| {
        let place = place(ix);
        git(
            hub,
            [
                OsStr::new("worktree"),
                "add".as_ref(),
                "--detach".as_ref(),
                place.as_os_str(),
            ],
        )
    };
    let (time, ()) = timed(|| (0..adds).try_for_each(|ix| add(ix).map(drop)))?;
    let (status, _) = timed(|| git(&place(0), ["status", "--porcelain"]))?;
    for ix in 0..adds {
        let place = place(ix);
        git(
            hub,
            [
                OsStr::new("worktree"),
                "remove".as_ref(),
                "--force".as_ref(),
                place.as_os_str(),
            ],
        )?;
    }
    let factor = AGENTS as f64 / adds as f64;
    Ok((time.mul_f64(factor), status))
}

fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(Duration, T), String> {
    let start = Instant::now();
    let done = work()?;
    Ok((start.elapsed(), done))
}

/// Creates a repository of `files` files in folders of twenty; with many files, each is small.
pub(super) fn repository(hub: &Path, files: usize) -> Result<(), String> {
    let lines = if files < 5_000 { 300 } else { 50 };
    for ix in 0..files {
        let path = name(hub, ix);
        if ix % 20 == 0 {
            let folder = path.parent().ok_or("no folder")?;
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        let text: String = (0..lines)
            .map(|line| {
                format!(
                    "line {line} of file {ix}, {:x}\n",
                    ix * 7919 + line * 104_729
                )
            })
            .collect();
        fs::write(&path, text).map_err(|error| error.to_string())?;
    }
    git(hub, ["init", "--quiet", "--initial-branch=main"])?;
    commit(hub)
}

fn change(hub: &Path, files: usize) -> Result<(), String> {
    for ix in (0..files).step_by(50) {
        fs::write(name(hub, ix), format!("changed {ix}\n")).map_err(|error| error.to_string())?;
    }
    commit(hub)
}

fn commit(hub: &Path) -> Result<(), String> {
    git(hub, ["add", "--all"])?;
    let words = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@localhost",
        "-c",
        "gc.auto=0",
        "commit",
        "--quiet",
        "--message=files",
    ];
    git(hub, words).map(drop)
}

fn name(hub: &Path, ix: usize) -> PathBuf {
    let folder = ix / 20;
    hub.join(format!(
        "part{}/group{}/file{ix}.txt",
        folder / 30,
        folder % 30
    ))
}

fn git<T: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = T>,
) -> Result<String, String> {
    let done = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("git is needed to compare with: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}
