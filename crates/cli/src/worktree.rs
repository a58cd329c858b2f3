//! The command `worktree`: leased worktrees of the repository around a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use host::{Dirs, Files};
use serde_json::{Value, json};
use worktree::{
    Discard, LeaseId, LeaseMerge, LeaseRequest, LeaseStatus, PoolListing, PoolSettings,
    ShareMethod, WorktreePool,
};

use crate::{Streams, folder, write_error};

/// Lease worktrees, and list and free them
#[derive(Args)]
pub(crate) struct WorktreeCommand {
    #[command(subcommand)]
    what: WorktreeAction,
    /// A folder of the repository; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum WorktreeAction {
    /// Make worktrees of the commit that is checked out; they are yours until you release them
    Lease {
        /// Number of worktrees to create
        #[arg(long, default_value_t = 1)]
        count: usize,
        /// Include uncommitted changes of the checkout
        #[arg(long)]
        with_changes: bool,
    },
    /// List all leases with their contents, and leftovers of a crash
    List,
    /// Show one lease with its environment
    Show {
        /// The lease, such as wt-3
        id: String,
    },
    /// Remove a lease; one whose work exists nowhere else is kept
    Release {
        /// The lease, such as wt-3
        id: String,
        /// Discard the work in it
        #[arg(long)]
        discard: bool,
    },
    /// Archive the work of a lease in the repository, and free its folder
    Archive {
        /// The lease, such as wt-3
        id: String,
    },
    /// Restore archived work as it was
    Restore {
        /// The name of the archived work
        name: String,
    },
    /// Remove worktrees that can go without loss, and list the others with reasons
    Gc {
        /// The most MiB that all leases of this repository may take
        #[arg(long)]
        quota: Option<u64>,
    },
}

impl WorktreeCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        files: &dyn Files,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let main_repo = folder(self.root.as_deref(), files)?;
        dirs.create().map_err(|error| error.to_string())?;
        // Mounts of an ordinary user end with this command, so a leased worktree must consist of
        // plain files, and a view of mounts elsewhere needs a namespace. If none is available, each
        // such lease reports it.
        let is_lasting = matches!(
            self.what,
            WorktreeAction::Lease { .. } | WorktreeAction::Restore { .. }
        );
        if !is_lasting {
            worktree::enter_namespace().ok();
        }
        let pool = WorktreePool::open(&main_repo, &dirs.state, runtime::lease_settings())
            .map_err(error_text)?;
        let text = self.answer(&pool)?;
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Performs the action and returns its output, as text or as JSON.
    fn answer(&self, pool: &WorktreePool) -> Result<String, String> {
        let lines = match &self.what {
            WorktreeAction::Lease {
                count,
                with_changes,
            } => return self.lease(pool, *count, *with_changes),
            WorktreeAction::List => return self.list(&pool.list().map_err(error_text)?),
            WorktreeAction::Show { id } => {
                return self.show(&pool.status(&parse(id)?).map_err(error_text)?);
            }
            WorktreeAction::Release { id, discard } => {
                let discard = if *discard {
                    Discard::Work
                } else {
                    Discard::Nothing
                };
                pool.release(&parse(id)?, discard).map_err(error_text)?;
                vec![format!("{id} is released")]
            }
            WorktreeAction::Archive { id } => {
                let archived = pool.archive(&parse(id)?).map_err(error_text)?;
                vec![format!(
                    "{id} is archived as refs/burin/archive/{} ({}); `burin-agent worktree restore {}` brings it back",
                    archived.name,
                    short_commit(&archived.commit),
                    archived.name
                )]
            }
            WorktreeAction::Restore { name } => {
                let mut lease = pool.restore(name).map_err(error_text)?;
                pool.keep_for_user(&mut lease).map_err(error_text)?;
                vec![format!("{}  {}", lease.id, lease.root)]
            }
            WorktreeAction::Gc { quota } => {
                let quota = quota.map_or(PoolSettings::defaults().quota, |quota| quota << 20);
                let cleared = pool.gc(quota).map_err(error_text)?;
                if self.json {
                    let value = json!({ "removed": cleared.removed, "kept": cleared.kept, "bytes": cleared.size });
                    return Ok(format!("{value}\n"));
                }
                let removed = cleared.removed.iter().map(|line| format!("removed {line}"));
                let kept = cleared.kept.iter().map(|line| format!("kept {line}"));
                let end = format!("{} are in use", size(cleared.size));
                removed.chain(kept).chain([end]).collect()
            }
        };
        if self.json {
            return Ok(format!("{}\n", json!({ "done": lines })));
        }
        Ok(lines.iter().map(|line| format!("{line}\n")).collect())
    }

    /// Leases `count` worktrees that stay until they are released, and returns one line for each.
    fn lease(
        &self,
        pool: &WorktreePool,
        count: usize,
        with_changes: bool,
    ) -> Result<String, String> {
        let wanted = LeaseRequest {
            count,
            is_kept: true,
            with_changes,
        };
        let leases = pool.lease(wanted).map_err(error_text)?;
        if self.json {
            let leases = leases.iter().map(lease_json).collect();
            return Ok(format!("{}\n", Value::Array(leases)));
        }
        let mut text = String::new();
        for lease in &leases {
            text.push_str(&format!("{}  {}\n", lease.id, lease.root));
            // A user who transfers changes must know which were left out.
            for caveat in lease.caveats.iter().filter(|_| with_changes) {
                text.push_str(&format!("    {caveat}\n"));
            }
        }
        Ok(text)
    }

    /// Formats all leases and archives; never fails.
    fn list(&self, listing: &PoolListing) -> Result<String, String> {
        if self.json {
            let value = json!({
                "leases": listing.leases.iter().map(shown_json).collect::<Vec<_>>(),
                "unfinished": listing.unfinished.iter().map(LeaseId::as_str).collect::<Vec<_>>(),
                "archives": listing.archives.iter().map(|archived| json!({
                    "name": archived.name, "commit": archived.commit, "tip": archived.tip,
                    "seconds": archived.seconds,
                })).collect::<Vec<_>>(),
                "rung": listing.backends.backend.name(),
                "missing": listing.backends.missing,
            });
            return Ok(format!("{value}\n"));
        }
        let mut text: String = listing.leases.iter().map(lease_line).collect();
        for id in &listing.unfinished {
            text.push_str(&format!(
                "{id}  was never ready; `burin-agent worktree gc` clears it away\n"
            ));
        }
        for archived in &listing.archives {
            text.push_str(&format!(
                "{}  archived, {}; `burin-agent worktree restore {}` brings it back\n",
                archived.name,
                short_commit(&archived.commit),
                archived.name
            ));
        }
        if text.is_empty() {
            text.push_str("there are no leases; `burin-agent worktree lease` makes one\n");
        }
        text.push_str(&format!(
            "worktrees are made by {}",
            listing.backends.backend.name()
        ));
        for (rung, why) in &listing.backends.missing {
            text.push_str(&format!("; {rung} is not to be had: {why}"));
        }
        text.push('\n');
        Ok(text)
    }

    /// Formats the status of one lease, with at most 20 files that are not committed; never fails.
    fn show(&self, shown: &LeaseStatus) -> Result<String, String> {
        if self.json {
            return Ok(format!("{}\n", shown_json(shown)));
        }
        let lease = &shown.lease;
        let mut text = lease_line(shown);
        text.push_str(&format!(
            "    branch {} from {}\n",
            lease.branch,
            short_commit(&lease.base)
        ));
        for shared in &lease.shared {
            let how = match &shared.way {
                ShareMethod::Overlay => "shared, copied when written".to_owned(),
                ShareMethod::Reflink => "cloned".to_owned(),
                ShareMethod::Copy => "copied".to_owned(),
                ShareMethod::LeftOut(why) => format!("left out: {why}"),
            };
            text.push_str(&format!("    {}: {how}\n", shared.path));
        }
        for caveat in &lease.caveats {
            text.push_str(&format!("    {caveat}\n"));
        }
        if let Ok(work) = &shown.work {
            for touched in work.touched.iter().take(20) {
                text.push_str(&format!(
                    "    not committed: {}\n",
                    String::from_utf8_lossy(&touched.path)
                ));
            }
        }
        for (name, value) in lease.env() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            // Consecutive ports are in the first line.
            if !name.starts_with("BURIN_PORT_") {
                text.push_str(&format!("    {name}={value}\n"));
            }
        }
        let last = lease.ports.end - lease.ports.start - 1;
        text.push_str(&format!(
            "    BURIN_PORT_0 to BURIN_PORT_{last}: the ports in the first line\n"
        ));
        Ok(text)
    }
}

fn lease_line(shown: &LeaseStatus) -> String {
    let lease = &shown.lease;
    let holder = match (shown.is_held, shown.is_orphan()) {
        (true, _) => format!("held by {}", lease.owner),
        (_, true) => "left by a program that has ended".to_owned(),
        _ => "yours".to_owned(),
    };
    let work = match &shown.work {
        Err(error) => error.to_string(),
        Ok(work) => {
            let commits = match work.merged {
                LeaseMerge::Nothing => "no commits",
                LeaseMerge::Yes => "merged",
                LeaseMerge::No => "commits not merged",
            };
            match work.touched.len() {
                0 => format!("clean, {commits}"),
                1 => format!("1 file not committed, {commits}"),
                count => format!("{count} files not committed, {commits}"),
            }
        }
    };
    format!(
        "{}  {holder}, {}, {} old, by {}, ports {}-{}: {work}\n    {}\n",
        lease.id,
        size(shown.size),
        age(shown.age_ms),
        lease.backend.name(),
        lease.ports.start,
        lease.ports.end - 1,
        lease.root,
    )
}

fn lease_json(lease: &worktree::Lease) -> Value {
    let env = lease.env().into_iter().map(|(name, value)| {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        (text(name), Value::String(text(value)))
    });
    json!({
        "id": lease.id.as_str(),
        "root": lease.root.to_string(),
        "git_dir": lease.git_dir.to_string(),
        "hub": lease.main_repo.to_string(),
        "base": lease.base,
        "branch": lease.branch,
        "ports": [lease.ports.start, lease.ports.end],
        "name": lease.name,
        "rung": lease.backend.name(),
        "caveats": lease.caveats,
        "env": env.collect::<serde_json::Map<_, _>>(),
    })
}

fn shown_json(shown: &LeaseStatus) -> Value {
    let mut value = lease_json(&shown.lease);
    value["owner"] = Value::String(shown.lease.owner.to_string());
    value["is_held"] = Value::Bool(shown.is_held);
    value["is_orphan"] = Value::Bool(shown.is_orphan());
    value["bytes"] = json!(shown.size);
    value["age_ms"] = json!(shown.age_ms);
    match &shown.work {
        Err(error) => value["problem"] = Value::String(error.to_string()),
        Ok(work) => {
            value["tip"] = Value::String(work.tip.clone());
            value["is_dirty"] = Value::Bool(!work.touched.is_empty());
            value["touched"] = json!(work.touched.len());
            value["merged"] = match work.merged {
                LeaseMerge::Nothing => Value::Null,
                LeaseMerge::Yes => Value::Bool(true),
                LeaseMerge::No => Value::Bool(false),
            };
        }
    }
    value
}

/// Parses the id of a lease; the error shows an example.
fn parse(id: &str) -> Result<LeaseId, String> {
    LeaseId::parse(id).ok_or_else(|| format!("{id:?} is not the name of a lease, such as \"wt-3\""))
}

fn error_text(error: worktree::Error) -> String {
    error.to_string()
}

fn short_commit(id: &str) -> &str {
    &id[..id.len().min(10)]
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

fn age(millis: u64) -> String {
    match millis / 60_000 {
        0 => format!("{} s", millis / 1000),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes @ 60..2880 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / 1440),
    }
}

#[cfg(test)]
mod tests;
