//! The panel with the changes of a folder's repositories.
//!
//! `state` knows what is shown; this module connects it with the service: it reads what changed, sends requests, and
//! shows their failures. Start at `ChangesPanel::new`.

mod bisect;
mod call;
mod choosing;
mod commands;
mod commit;
mod identity;
mod keys;
mod prompt;
mod pull_requests;
mod question;
mod rebase;
mod rebase_list;
mod render;
mod render_rows;
mod staging;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use base::AbsPath;
use editor::DocumentEnvironment;
use git::BranchSummary;
use git::changes::{Changes, HeadState};
use git::merge::TreePath;
use git::staging::Side;
use git_program::{BisectState, LogRow, PullRequest};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, SharedString,
    Subscription, Task, UniformListScrollHandle, Window,
};
use ui::{PopupMenu, Tone};

use crate::message::{CommitMessage, MessageRested};
use crate::service::{
    GitFailure, GitFailureKind, GitPrompt, GitService, GitTick, HookReport, MessageDraft,
    RebasePlan,
};
use crate::state::{PanelState, RefreshScope};

pub use bisect::BisectStep;
pub use choosing::CommitPurpose;
pub use commands::{PanelCommand, on_commands};
pub use commit::CommitKind;
pub use rebase_list::RebaseList;

/// The panel with the changes of a folder: what is staged, what is not, the message of the next commit.
pub struct ChangesPanel {
    service: Arc<dyn GitService>,
    environment: DocumentEnvironment,
    state: PanelState,
    /// Whether the list of repositories was read.
    is_listed: bool,
    /// The reason why the list of repositories cannot be read.
    failure: Option<GitFailure>,
    messages: HashMap<AbsPath, OpenMessage>,
    /// Repositories whose drafts are loading.
    loading: HashSet<AbsPath>,
    notice: Option<PanelNotice>,
    /// Whether the whole output of the failed hook is shown.
    shows_log: bool,
    question: Option<question::PanelQuestion>,
    prompt: Option<prompt::OpenPrompt>,
    identity: Option<identity::IdentityForm>,
    /// The state of a bisection in progress, with its repository.
    bisect: Option<(AbsPath, BisectState)>,
    waiting_prompts: VecDeque<GitPrompt>,
    call: Option<call::RunningCall>,
    /// The open menu of a button.
    menu: Option<(Entity<PopupMenu>, Subscription)>,
    undo: Vec<staging::UndoableStep>,
    /// Number of steps to undo once the requests under way have ended.
    waiting_undos: usize,
    /// The focus of the list.
    focus: FocusHandle,
    /// Contains the focus of everything in the panel.
    region: FocusHandle,
    /// The focus of the button that changes nothing.
    cancel_focus: FocusHandle,
    scroll: UniformListScrollHandle,
    _watch: Task<()>,
    _prompts: Task<()>,
}

/// A message with its subscriptions.
struct OpenMessage {
    message: Entity<CommitMessage>,
    _subscriptions: [Subscription; 2],
}

/// A sentence at the top of the panel.
struct PanelNotice {
    tone: Tone,
    text: SharedString,
    /// The hook that failed.
    hook: Option<HookReport>,
    /// Whether trust in the folder would help.
    needs_trust: bool,
}

/// A request of the panel to its window.
#[derive(Clone, Debug)]
pub enum ChangesPanelEvent {
    /// The repositories were read: changes and branches may be others.
    Changed,
    /// Another line was selected, perhaps of another repository.
    SelectionChanged,
    /// Show the diff of a file among those of its side, at its first change.
    OpenDiff {
        /// The repository.
        repository: AbsPath,
        /// The file.
        path: TreePath,
        /// The texts to compare.
        side: Side,
    },
    /// Open a file.
    OpenFile(AbsPath),
    /// Replace the text of a file by an edit that the user can undo, and save it.
    ReplaceText {
        /// The file.
        path: AbsPath,
        /// Its new content.
        bytes: Vec<u8>,
    },
    /// Undo the latest edit of a file, and save it.
    UndoReplacement(AbsPath),
    /// Ask the user for one of these branches, for `ChangesPanel::switch_to`.
    ChooseBranch(Vec<BranchSummary>),
    /// Ask the user for the name of a branch, for `ChangesPanel::create_branch`.
    NameBranch,
    /// Ask the user for one of these commits, for `ChangesPanel::commit_chosen`.
    ChooseCommit {
        /// The repository.
        repository: AbsPath,
        /// The use of the commit.
        purpose: CommitPurpose,
        /// The commits, the newest first.
        commits: Vec<LogRow>,
    },
    /// Ask the user for one of these pull requests, for `GitCommand::CheckOutPullRequest`.
    ChoosePullRequest(Vec<PullRequest>),
    /// Show a commit in the history.
    ShowCommit(String),
    /// Show a `RebaseList` with the commits of a plan.
    EditRebase {
        /// The repository.
        repository: AbsPath,
        /// The commits.
        plan: RebasePlan,
    },
    /// Ask the user to trust the folder.
    TrustRequested,
    /// Git asks the user: show the panel.
    AttentionRequested,
    /// Return the focus to the editor.
    Cancelled,
}

impl EventEmitter<ChangesPanelEvent> for ChangesPanel {}

impl Focusable for ChangesPanel {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

/// The state of the current repository in a few words, for the status bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSummary {
    /// The branch, or the abbreviated commit of HEAD.
    pub branch: String,
    /// Commits that the upstream branch lacks.
    pub ahead: usize,
    /// Commits that only the upstream branch has.
    pub behind: usize,
    /// Number of changed files of all repositories.
    pub files: usize,
}

impl ChangesPanel {
    /// Creates the panel over a service, whose repositories it begins to read. `environment` is that of the messages.
    pub fn new(
        service: Arc<dyn GitService>,
        environment: DocumentEnvironment,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let ticks = service.watch();
        let watch = cx.spawn_in(window, async move |this, cx| {
            while let Ok(tick) = ticks.recv().await {
                let handled = this.update_in(cx, |this, window, cx| this.tick(tick, window, cx));
                if handled.is_err() {
                    break;
                }
            }
        });
        let asked = service.prompts();
        let prompts = cx.spawn_in(window, async move |this, cx| {
            while let Ok(prompt) = asked.recv().await {
                let shown =
                    this.update_in(cx, |this, window, cx| this.take_prompt(prompt, window, cx));
                if shown.is_err() {
                    break;
                }
            }
        });
        let mut panel = Self {
            service,
            environment,
            state: PanelState::default(),
            is_listed: false,
            failure: None,
            messages: HashMap::new(),
            loading: HashSet::new(),
            notice: None,
            shows_log: false,
            question: None,
            prompt: None,
            identity: None,
            bisect: None,
            waiting_prompts: VecDeque::new(),
            call: None,
            menu: None,
            undo: Vec::new(),
            waiting_undos: 0,
            focus: cx.focus_handle().tab_stop(true),
            region: cx.focus_handle(),
            cancel_focus: cx.focus_handle().tab_stop(true),
            scroll: UniformListScrollHandle::new(),
            _watch: watch,
            _prompts: prompts,
        };
        panel.list(window, cx);
        panel
    }

    /// Returns the handle that contains the focus of everything in the panel.
    pub fn region(&self) -> &FocusHandle {
        &self.region
    }

    /// Returns whether the focus is in the panel.
    pub fn has_focus(&self, window: &Window, cx: &App) -> bool {
        self.focus.is_focused(window) || self.region.contains_focused(window, cx)
    }

    /// Returns the repository to which the commands of the panel apply; `None` if there is none.
    pub fn current_repository(&self) -> Option<&AbsPath> {
        self.state.current().map(|it| &it.info.root)
    }

    /// Returns the service, for the diffs of the window.
    pub fn service(&self) -> &Arc<dyn GitService> {
        &self.service
    }

    /// Returns the state of the current repository; `None` until it was read.
    pub fn summary(&self) -> Option<GitSummary> {
        let changes = self.state.current()?.changes.as_ref()?;
        let counts = self.state.repositories.iter().map(|it| it.file_count());
        Some(GitSummary {
            branch: branch_name(changes),
            ahead: changes.upstream.as_ref().map_or(0, |it| it.ahead),
            behind: changes.upstream.as_ref().map_or(0, |it| it.behind),
            files: counts.sum(),
        })
    }

    /// Returns the changed files of a repository on one side, in the order of the panel.
    pub fn changed_files(&self, repository: &AbsPath, side: Side) -> Vec<TreePath> {
        let changes = self.state.repository(repository);
        let changes = changes.and_then(|it| it.changes.as_ref());
        let entries = changes.iter().flat_map(|changes| &changes.entries);
        let entries = entries.filter(|change| staging::side_of(change.group) == Some(side));
        entries.map(|change| change.path.clone()).collect()
    }

    /// Returns the repository of a file and the path in it; `None` if it is in none.
    pub fn repository_of(&self, file: &AbsPath) -> Option<(AbsPath, TreePath)> {
        let roots = self.state.repositories.iter().map(|it| &it.info.root);
        let within = roots.filter(|root| file.is_within(root));
        let root = within.max_by_key(|root| root.as_path().components().count())?;
        let path = TreePath::of_path(file.relative_to(root)?);
        Some((root.clone(), path))
    }

    /// Reads the list of repositories again, and their changes.
    fn list(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let listing = self.service.repositories();
        cx.spawn_in(window, async move |this, cx| {
            let listed = listing.await;
            this.update_in(cx, |this, window, cx| {
                this.is_listed = true;
                match listed {
                    Ok(repositories) => {
                        this.failure = None;
                        this.state.set_repositories(repositories);
                    }
                    Err(failure) => this.failure = Some(failure),
                }
                this.end_reading(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    fn tick(&mut self, tick: GitTick, window: &mut Window, cx: &mut Context<Self>) {
        match tick {
            GitTick::Repositories => return self.list(window, cx),
            GitTick::Repository(root) => {
                self.state.request_reading(&root, RefreshScope::Everything);
            }
            GitTick::Files { repository, paths } => {
                let scope = RefreshScope::Files(paths.into_iter().collect());
                self.state.request_reading(&repository, scope);
            }
        }
        self.read_due(window, cx);
    }

    /// Starts the readings that are due, and shows what is known.
    fn read_due(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let repositories = self.state.repositories.iter_mut();
        let due = repositories.filter_map(|it| Some((it.info.root.clone(), it.begin_reading()?)));
        let due: Vec<_> = due.collect();
        for (root, scope) in due {
            self.read(root, scope, window, cx);
        }
        self.state.update_rows();
        self.load_message(window, cx);
        cx.notify();
    }

    /// Shows what was read, and reads what is due meanwhile.
    fn end_reading(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.read_due(window, cx);
        bisect::follow(self, cx);
        cx.emit(ChangesPanelEvent::Changed);
    }

    fn read(
        &mut self,
        root: AbsPath,
        scope: RefreshScope,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let RefreshScope::Files(files) = scope else {
            let reading = self.service.changes(&root);
            cx.spawn_in(window, async move |this, cx| {
                let read = reading.await;
                this.update_in(cx, |this, window, cx| {
                    if let Some(repository) = this.state.repository_mut(&root) {
                        repository.end_reading(read);
                    }
                    this.end_reading(window, cx);
                })
                // The panel may be gone.
                .ok();
            })
            .detach();
            return;
        };
        let reading = self
            .service
            .changes_of(&root, files.iter().cloned().collect());
        cx.spawn_in(window, async move |this, cx| {
            let read = reading.await;
            this.update_in(cx, |this, window, cx| {
                if let Some(repository) = this.state.repository_mut(&root) {
                    repository.end_reading_of(&files, read);
                }
                this.end_reading(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    /// Loads the message of the current repository, unless it is there.
    fn load_message(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(root) = self.state.current().map(|it| it.info.root.clone()) else {
            return;
        };
        if self.messages.contains_key(&root) || !self.loading.insert(root.clone()) {
            return;
        }
        let loading = self.service.draft(&root);
        cx.spawn_in(window, async move |this, cx| {
            let draft = loading.await;
            this.update_in(cx, |this, window, cx| {
                this.loading.remove(&root);
                // Without a draft, the message begins empty.
                this.add_message(root, draft.unwrap_or_default(), window, cx);
                cx.notify();
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }

    fn add_message(
        &mut self,
        root: AbsPath,
        draft: MessageDraft,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let environment = self.environment.clone();
        let message = cx.new(|cx| CommitMessage::new(draft, environment, window, cx));
        let stored = root.clone();
        let subscriptions = [
            cx.subscribe(&message, move |this, message, _: &MessageRested, cx| {
                let text = message.read(cx).draft(cx);
                this.store_draft(&stored, text, cx);
            }),
            cx.observe(&message, |_, _, cx| cx.notify()),
        ];
        let open = OpenMessage {
            message,
            _subscriptions: subscriptions,
        };
        self.messages.insert(root, open);
    }

    fn store_draft(&self, root: &AbsPath, text: String, cx: &mut Context<Self>) {
        let storing = self.service.store_draft(root, text);
        cx.spawn(async move |this, cx| {
            if let Err(failure) = storing.await {
                this.update(cx, |this, cx| this.fail(&failure, cx))
                    // The panel may be gone.
                    .ok();
            }
        })
        .detach();
    }

    /// Returns the message of a repository; `None` until its draft was loaded.
    fn message(&self, root: &AbsPath) -> Option<&Entity<CommitMessage>> {
        self.messages.get(root).map(|open| &open.message)
    }

    /// Shows a sentence in the panel.
    fn note(&mut self, tone: Tone, text: impl Into<SharedString>, cx: &mut Context<Self>) {
        self.notice = Some(PanelNotice {
            tone,
            text: text.into(),
            hook: None,
            needs_trust: false,
        });
        self.shows_log = false;
        cx.notify();
    }

    /// Shows a failure in the panel.
    fn fail(&mut self, failure: &GitFailure, cx: &mut Context<Self>) {
        if failure.kind == GitFailureKind::Cancelled {
            return self.note(Tone::Info, failure.sentence.clone(), cx);
        }
        self.note(Tone::Error, failure.sentence.clone(), cx);
        if let Some(notice) = &mut self.notice {
            notice.needs_trust = failure.kind == GitFailureKind::Untrusted;
            if let GitFailureKind::HookFailed(hook) = &failure.kind {
                notice.hook = Some(hook.clone());
            }
        }
    }

    /// Creates a repository in the folder.
    pub fn initialize(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let creating = self.service.initialize();
        cx.spawn_in(window, async move |this, cx| {
            let created = creating.await;
            this.update_in(cx, |this, window, cx| {
                match created {
                    Ok(()) => this.notice = None,
                    Err(failure) => this.fail(&failure, cx),
                }
                this.list(window, cx);
            })
            // The panel may be gone.
            .ok();
        })
        .detach();
    }
}

/// Returns the branch of HEAD, or its abbreviated commit.
fn branch_name(changes: &Changes) -> String {
    match &changes.head {
        HeadState::Branch { name, .. } | HeadState::Unborn { name } => name.clone(),
        HeadState::Detached { commit } => commit.to_string().chars().take(8).collect(),
    }
}

#[cfg(test)]
mod tests;
