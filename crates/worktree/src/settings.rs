//! The settings of worktrees.

use std::path::PathBuf;

use crate::backend::TreeBackend;

/// The settings for making and keeping leases.
#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// Ignored folders of the checkout that leases share copy-on-write, relative to the root.
    pub shared: Vec<String>,
    /// Maximum size of a shared folder that must be copied file by file, in bytes; larger ones are
    /// left out.
    pub shared_limit: u64,
    /// Disk usage of all leases and bases of one repository above which `gc` removes leases that
    /// are safe to remove, in bytes.
    pub quota: u64,
    /// The only backend to use; the best one that works if `None`.
    pub backend: Option<TreeBackend>,
    /// The file system monitor for leases on overlays: a program whose `main` begins with
    /// `answer_fsmonitor_query`. Without it, Git examines every file.
    pub monitor: Option<PathBuf>,
    /// The lowest port to assign; blocks end below the ports that systems assign themselves.
    pub first_port: u16,
}

impl PoolSettings {
    /// Number of ports per lease.
    pub const PORTS: u16 = 16;

    /// Returns the defaults for Burin's own programs: the monitor is `burin-agent` beside this program,
    /// which starts fastest, or else this program itself.
    pub fn for_program() -> Self {
        let own = host::own_program().map(|own| own.as_path().to_owned());
        let agent = own.as_ref().map(|own| own.with_file_name("burin-agent"));
        let monitor = agent.filter(|agent| agent.is_file()).or(own);
        Self {
            monitor,
            ..Self::defaults()
        }
    }

    /// Returns the default settings, without a monitor.
    pub fn defaults() -> Self {
        Self {
            shared: ["target", "node_modules", ".venv"]
                .map(str::to_owned)
                .to_vec(),
            shared_limit: 256 << 20,
            quota: 20 << 30,
            backend: None,
            monitor: None,
            first_port: 20_000,
        }
    }
}
