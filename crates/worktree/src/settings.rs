//! What may be chosen about leases.

use std::path::PathBuf;

use crate::rung::Rung;

/// How leases are made and kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Ignored folders of the checkout that leases see copy-on-write, by their names from the top.
    pub shared: Vec<String>,
    /// Where these must be copied file by file, larger ones are left out: in bytes.
    pub shared_limit: u64,
    /// How much all leases and bases of one repository may take before `gc` removes what is safe to remove: in bytes.
    pub quota: u64,
    /// The one way trees are made; the best that works where nothing is said.
    pub rung: Option<Rung>,
    /// Commands that a fresh lease is set up with, each run by a shell in the lease's root.
    pub setup: Vec<String>,
    /// Commands that are run before a lease goes.
    pub teardown: Vec<String>,
    /// The program that tells git what changed in a lease, where it is an overlay: one whose `main` begins with
    /// `answer_git`.
    /// Without, git looks at every file.
    pub monitor: Option<PathBuf>,
    /// The lowest port that is handed out; blocks go up to the ports that systems hand out themselves.
    pub first_port: u16,
}

impl Settings {
    /// How many ports each lease has.
    pub const PORTS: u16 = 16;

    /// What holds where nobody chose, in one of Burin's programs: git is told what changed by `burin-agent`, the quickest
    /// of them to start, or by the program itself.
    pub fn of_program() -> Self {
        let own = std::env::current_exe().ok();
        let agent = own.as_ref().map(|own| own.with_file_name("burin-agent"));
        let monitor = agent.filter(|agent| agent.is_file()).or(own);
        Self {
            monitor,
            ..Self::usual()
        }
    }

    /// What holds where nobody chose.
    pub fn usual() -> Self {
        Self {
            shared: ["target", "node_modules", ".venv"]
                .map(str::to_owned)
                .to_vec(),
            shared_limit: 256 << 20,
            quota: 20 << 30,
            rung: None,
            setup: Vec::new(),
            teardown: Vec::new(),
            monitor: None,
            first_port: 20_000,
        }
    }
}
