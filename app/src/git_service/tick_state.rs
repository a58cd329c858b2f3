//! Gathers events to reports. Pure but for the metadata of changed paths.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use async_channel::{Sender, TrySendError};
use base::AbsPath;
use git::merge::TreePath;
use git_panel::GitTick;

use super::events::{ChangedPart, WatchedRepository, classify};
use super::ticks::TickMessage;

/// Number of files of one report; more of them count as a change of the whole repository.
const MAX_FILES: usize = 200;

/// The events that wait to be reported, and the changes of ours that run.
#[derive(Default)]
pub(super) struct TickState {
    repositories: Vec<WatchedRepository>,
    subscribers: Vec<Sender<GitTick>>,
    running: BTreeMap<AbsPath, usize>,
    has_new_repositories: bool,
    /// Repositories of which more than some files changed.
    whole: BTreeSet<AbsPath>,
    files: BTreeMap<AbsPath, BTreeSet<TreePath>>,
}

impl TickState {
    /// Takes a message. Breaks at the end of the service.
    pub(super) fn take(&mut self, message: TickMessage) -> ControlFlow<()> {
        match message {
            TickMessage::Changed(Some(paths)) => {
                for path in paths {
                    let parts = classify(&path, &self.repositories);
                    parts.into_iter().for_each(|part| self.add(part));
                }
            }
            TickMessage::Changed(None) => {
                self.has_new_repositories = true;
                let roots = self.repositories.iter().map(|it| it.root.clone());
                self.whole.extend(roots);
            }
            TickMessage::Found(repositories) => self.repositories = repositories,
            TickMessage::Trust => self.has_new_repositories = true,
            TickMessage::Began(root) => *self.running.entry(root).or_default() += 1,
            TickMessage::Ended(root) => self.end(root),
            TickMessage::Subscribed(subscriber) => self.subscribers.push(subscriber),
            TickMessage::Closed => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, root: AbsPath) {
        if let Some(count) = self.running.get_mut(&root) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(&root);
            }
        }
        self.whole.insert(root);
    }

    fn add(&mut self, part: ChangedPart) {
        match part {
            ChangedPart::Repositories => self.has_new_repositories = true,
            ChangedPart::State(root) => {
                self.whole.insert(root);
            }
            ChangedPart::File(root, name) => {
                self.files.entry(root).or_default().insert(name);
            }
        }
    }

    /// Returns whether something can be reported.
    pub(super) fn is_due(&self) -> bool {
        let mut roots = self.whole.iter().chain(self.files.keys());
        self.has_new_repositories || roots.any(|root| !self.running.contains_key(root))
    }

    /// Reports everything but events of repositories that a change of ours works on.
    pub(super) fn report(&mut self) {
        for tick in self.due() {
            self.subscribers
                .retain(|subscriber| send(subscriber, &tick));
        }
    }

    fn due(&mut self) -> Vec<GitTick> {
        let mut ticks = Vec::new();
        if std::mem::take(&mut self.has_new_repositories) {
            ticks.push(GitTick::Repositories);
        }
        let running = &self.running;
        let whole = self
            .whole
            .extract_if(.., |root| !running.contains_key(root));
        let whole: BTreeSet<AbsPath> = whole.collect();
        let files = self
            .files
            .extract_if(.., |root, _| !running.contains_key(root));
        let mut many = BTreeSet::new();
        for (repository, names) in files {
            if whole.contains(&repository) {
                continue;
            }
            if names.len() > MAX_FILES {
                many.insert(repository);
                continue;
            }
            let paths = names.into_iter().collect();
            ticks.push(GitTick::Files { repository, paths });
        }
        let whole = whole.into_iter().chain(many);
        ticks.extend(whole.map(GitTick::Repository));
        ticks
    }
}

/// Sends a report; returns whether the window still listens. One that is far behind is asked to read everything again.
fn send(subscriber: &Sender<GitTick>, tick: &GitTick) -> bool {
    match subscriber.try_send(tick.clone()) {
        Ok(()) => true,
        Err(TrySendError::Full(_)) => subscriber.force_send(GitTick::Repositories).is_ok(),
        Err(TrySendError::Closed(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use async_channel::Receiver;
    use base::AbsPath;
    use git::merge::TreePath;
    use git_panel::GitTick;

    use super::{MAX_FILES, TickMessage, TickState, WatchedRepository};

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn state() -> (TickState, Receiver<GitTick>) {
        let mut state = TickState::default();
        let (sender, ticks) = async_channel::bounded(1_000);
        let repository = WatchedRepository {
            root: path("/none/p"),
            git_dir: path("/none/p/.git"),
            common_dir: path("/none/p/.git"),
        };
        take(&mut state, TickMessage::Subscribed(sender));
        take(&mut state, TickMessage::Found(vec![repository]));
        (state, ticks)
    }

    fn take(state: &mut TickState, message: TickMessage) {
        assert!(state.take(message).is_continue());
    }

    fn changed(state: &mut TickState, names: &[&str]) {
        let paths = names.iter().map(|name| path(name)).collect();
        take(state, TickMessage::Changed(Some(paths)));
    }

    fn reported(state: &mut TickState, ticks: &Receiver<GitTick>) -> Vec<GitTick> {
        state.report();
        std::iter::from_fn(|| ticks.try_recv().ok()).collect()
    }

    fn whole() -> GitTick {
        GitTick::Repository(path("/none/p"))
    }

    #[test]
    fn saves_are_reported_by_file_and_git_as_a_whole() {
        let (mut state, ticks) = state();
        assert!(!state.is_due());
        changed(&mut state, &["/none/p/a", "/none/p/b", "/none/p/a"]);
        assert!(state.is_due());
        let files = GitTick::Files {
            repository: path("/none/p"),
            paths: ["a", "b"].map(TreePath::from).to_vec(),
        };
        assert_eq!(reported(&mut state, &ticks), [files]);
        changed(&mut state, &["/none/p/a", "/none/p/.git/index"]);
        assert_eq!(reported(&mut state, &ticks), [whole()]);
        let many: Vec<String> = (0..=MAX_FILES).map(|ix| format!("/none/p/{ix}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        changed(&mut state, &many);
        assert_eq!(reported(&mut state, &ticks), [whole()]);
        assert!(!state.is_due());
    }

    #[test]
    fn a_status_of_another_program_is_no_event() {
        let (mut state, ticks) = state();
        changed(&mut state, &["/none/p/.git/index.lock"]);
        assert!(!state.is_due());
        assert!(reported(&mut state, &ticks).is_empty());
    }

    #[test]
    fn events_wait_for_the_end_of_our_change() {
        let (mut state, ticks) = state();
        take(&mut state, TickMessage::Began(path("/none/p")));
        take(&mut state, TickMessage::Began(path("/none/p")));
        changed(&mut state, &["/none/p/a", "/none/p/.git/index"]);
        assert!(!state.is_due());
        assert!(reported(&mut state, &ticks).is_empty());
        take(&mut state, TickMessage::Ended(path("/none/p")));
        assert!(!state.is_due());
        take(&mut state, TickMessage::Ended(path("/none/p")));
        assert!(state.is_due());
        assert_eq!(reported(&mut state, &ticks), [whole()]);
    }

    #[test]
    fn a_closed_window_is_forgotten() {
        let (mut state, ticks) = state();
        drop(ticks);
        changed(&mut state, &["/none/p/a"]);
        state.report();
        assert!(state.subscribers.is_empty());
    }
}
