//! A look over the folder after each command: what it left that other programs run by themselves is put aside before
//! any of them meets it.
//!
//! Invariant: what the person changes while no command runs is never put aside, and neither is what the sandbox kept the
//! command from changing.
//! Limits: what the person makes while a command runs cannot be told from what the command made.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use base::AbsPath;
use host::process::Planted;
use host::{Clock as _, Files as _, RealClock, RealFiles};
use sandbox::scan::{Finding, Quarantine};
use sandbox::{Control, Scope};

use super::lock;

/// How often is looked again when something was put aside, while other commands go on.
const ROUNDS: usize = 4;

/// Looks over one folder.
pub(crate) struct Lookout {
    root: AbsPath,
    scope: Scope,
    /// Where things are put aside, each time in a folder of its own.
    aside: AbsPath,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What there was before the commands that run now; `None` before the first.
    control: Option<Control>,
    running: usize,
}

impl Lookout {
    #[cfg(test)]
    pub(super) fn new(root: &AbsPath, git_folders: &[AbsPath], aside: AbsPath) -> Self {
        let scope = Scope {
            roots: vec![root.clone()],
            git_folders: git_folders.to_vec(),
            home: None,
        };
        Self::over(scope, aside)
    }

    /// Looks over everything that commands can write; the first folder is the one they work in.
    pub(crate) fn over(mut scope: Scope, aside: AbsPath) -> Self {
        for root in &mut scope.roots {
            if let Ok(real) = RealFiles.canonicalize(root) {
                *root = real;
            }
        }
        Self {
            root: scope.roots.first().unwrap_or(&aside).clone(),
            scope,
            aside,
            state: Mutex::default(),
        }
    }

    /// Looks over more folders, which the next command can write.
    pub(super) fn add(&self, roots: &[AbsPath]) {
        let mut state = lock(&self.state);
        let control = state
            .control
            .get_or_insert_with(|| Control::over(&self.scope));
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

    /// A command is about to start.
    pub(crate) fn begin(&self) {
        let mut state = lock(&self.state);
        let is_alone = state.running == 0;
        state.running += 1;
        match &mut state.control {
            None => state.control = Some(Control::over(&self.scope)),
            // Nobody was there who is not trusted.
            Some(control) if is_alone => {
                control.advance();
            }
            Some(_) => {}
        }
    }

    /// A command has ended, or was never begun; `fixed` is what it could not change. Answers what it left, the rest
    /// of which stays where it is.
    pub(super) fn end(&self, fixed: &[AbsPath]) -> Vec<Planted> {
        let left = self.settle(fixed).into_iter();
        left.map(|(finding, aside)| told(&finding, aside)).collect()
    }

    /// The same, as what was found and the folder where it is now.
    pub(crate) fn settle(&self, fixed: &[AbsPath]) -> Vec<(Finding, Option<AbsPath>)> {
        let mut state = lock(&self.state);
        state.running = state.running.saturating_sub(1);
        let Some(control) = &mut state.control else {
            return Vec::new();
        };
        let mut left = Vec::new();
        for _ in 0..ROUNDS {
            let look = control.look();
            let is_own =
                |finding: &&Finding| !fixed.iter().any(|path| finding.path.is_within(path));
            let found = look.findings().iter().filter(is_own);
            let (armed, rest): (Vec<&Finding>, Vec<&Finding>) =
                found.partition(|finding| finding.is_armed());
            if armed.is_empty() {
                left.extend(rest.into_iter().map(|finding| (finding.clone(), None)));
                control.take(look);
                break;
            }
            let (folder, is_done) = self.put_aside(&armed);
            left.extend(
                armed
                    .iter()
                    .map(|&finding| (finding.clone(), folder.clone())),
            );
            if !is_done {
                control.take(look);
                break;
            }
        }
        left
    }

    /// The folder that they are in now, and whether it went well.
    fn put_aside(&self, armed: &[&Finding]) -> (Option<AbsPath>, bool) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "{}-{}-{number}",
            RealClock::default().wall_ms(),
            std::process::id()
        );
        let folder = self.aside.join(name);
        let armed: Vec<Finding> = armed.iter().copied().cloned().collect();
        match Quarantine::put(&armed, &self.root, &folder, &RealFiles) {
            Ok(_) => (Some(folder), true),
            Err(error) => {
                base::report(&format!(
                    "what a command left in {} could not be put aside: {error}",
                    self.root
                ));
                (None, false)
            }
        }
    }
}

fn told(finding: &Finding, aside: Option<AbsPath>) -> Planted {
    Planted {
        path: finding.path.clone(),
        sentence: finding.to_string(),
        aside,
    }
}

#[cfg(test)]
mod tests;
