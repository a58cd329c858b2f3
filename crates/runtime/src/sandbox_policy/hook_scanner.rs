//! Scans the folder after each command, and quarantines files that other programs would run by
//! themselves.
//!
//! Invariant: changes by the user while no command runs are never quarantined, nor are paths that
//! the sandbox protected from the command.
//! Read-only commands are not counted and not followed by a scan: that would take what another command
//! creates at the same time for the user's.
//! Limits: files that the user creates while a command runs cannot be told from the command's
//! files.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use base::AbsPath;
use host::process::PlantedFile;
use host::{Clock as _, Files as _, RealClock, RealFiles};
use sandbox::scan::{Finding, Quarantine};
use sandbox::{ScanBaseline, ScanScope};

use super::lock;

/// The number of repeated scans after a quarantine while other commands are running.
const ROUNDS: usize = 4;

/// The scanner of one session's writable folders.
pub struct HookScanner {
    root: AbsPath,
    scope: ScanScope,
    /// The quarantine folder; each quarantine gets a folder of its own in it.
    quarantine: AbsPath,
    state: Mutex<ScannerState>,
}

#[derive(Default)]
struct ScannerState {
    /// The files before the running commands started; `None` before the first command.
    control: Option<ScanBaseline>,
    running: usize,
}

impl HookScanner {
    /// Creates a scanner of a root and its Git folders; quarantined files go below `aside`.
    #[cfg(test)]
    pub(super) fn new(root: &AbsPath, git_folders: &[AbsPath], aside: AbsPath) -> Self {
        let scope = ScanScope {
            roots: vec![root.clone()],
            git_folders: git_folders.to_vec(),
            home: None,
        };
        Self::for_scope(scope, aside)
    }

    /// Creates a scanner of all paths that commands can write; the first folder is their working
    /// folder.
    pub(crate) fn for_scope(mut scope: ScanScope, aside: AbsPath) -> Self {
        for root in &mut scope.roots {
            if let Ok(real) = RealFiles.canonicalize(root) {
                *root = real;
            }
        }
        Self {
            root: scope.roots.first().unwrap_or(&aside).clone(),
            scope,
            quarantine: aside,
            state: Mutex::default(),
        }
    }

    /// Adds folders that the next command can write, beside those of the session.
    pub(super) fn add(&self, roots: &[AbsPath]) {
        let mut state = lock(&self.state);
        let control = state
            .control
            .get_or_insert_with(|| ScanBaseline::for_scope(&self.scope));
        for root in roots
            .iter()
            .filter_map(|root| RealFiles.canonicalize(root).ok())
        {
            let is_folder = RealFiles.stat(&root);
            if is_folder.is_ok_and(|stat| stat.kind == host::FileKind::Folder) {
                control.add(&root);
            }
        }
    }

    /// Records the state of the files before a command starts, for comparison when the command
    /// ends. Blocks on the disk.
    pub fn command_started(&self) {
        let mut state = lock(&self.state);
        let is_alone = state.running == 0;
        state.running += 1;
        match &mut state.control {
            None => state.control = Some(ScanBaseline::for_scope(&self.scope)),
            // No untrusted command was running meanwhile.
            Some(control) if is_alone => {
                control.advance();
            }
            Some(_) => {}
        }
    }

    /// Scans after a command has ended or failed to start; `fixed` are paths that neither it nor any
    /// other command of the session could change. Quarantines the files that another program would
    /// run by itself, and returns all findings.
    pub(super) fn command_ended(&self, fixed: &[AbsPath]) -> Vec<PlantedFile> {
        let findings = self.collect_findings(fixed).into_iter();
        findings
            .map(|(finding, aside)| planted_file(&finding, aside))
            .collect()
    }

    /// Scans like `command_ended`. Returns each finding with the folder to which its file was
    /// moved, or `None` if the file was not moved.
    pub fn collect_findings(&self, fixed: &[AbsPath]) -> Vec<(Finding, Option<AbsPath>)> {
        let mut state = lock(&self.state);
        state.running = state.running.saturating_sub(1);
        let Some(control) = &mut state.control else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        for _ in 0..ROUNDS {
            let look = control.scan();
            let is_own =
                |finding: &&Finding| !fixed.iter().any(|path| finding.path.is_within(path));
            let found = look.findings().iter().filter(is_own);
            let (armed, rest): (Vec<&Finding>, Vec<&Finding>) =
                found.partition(|finding| finding.is_armed());
            if armed.is_empty() {
                findings.extend(rest.into_iter().map(|finding| (finding.clone(), None)));
                control.adopt(look);
                break;
            }
            let (folder, is_done) = self.quarantine(&armed);
            findings.extend(
                armed
                    .iter()
                    .map(|&finding| (finding.clone(), folder.clone())),
            );
            if !is_done {
                control.adopt(look);
                break;
            }
        }
        findings
    }

    /// The folder that they are in now, and whether it went well.
    fn quarantine(&self, armed: &[&Finding]) -> (Option<AbsPath>, bool) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "{}-{}-{number}",
            RealClock::default().wall_ms(),
            std::process::id()
        );
        let folder = self.quarantine.join(name);
        let armed: Vec<Finding> = armed.iter().copied().cloned().collect();
        match Quarantine::isolate(&armed, &self.root, &folder, &RealFiles) {
            Ok(_) => (Some(folder), true),
            Err(error) => {
                base::report(&format!(
                    "what a command left in {} could not be quarantined: {error}",
                    self.root
                ));
                (None, false)
            }
        }
    }
}

fn planted_file(finding: &Finding, aside: Option<AbsPath>) -> PlantedFile {
    PlantedFile {
        path: finding.path.clone(),
        sentence: finding.to_string(),
        quarantine: aside,
    }
}

#[cfg(test)]
mod tests;
