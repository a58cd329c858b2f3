//! Draws the panel: branch and operation above, the list, message and buttons below.

use git::changes::{HeadState, Operation, OperationKind};
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    Action, AnyElement, ClickEvent, Context, DismissEvent, Focusable as _, InteractiveElement as _,
    IntoElement, ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _,
    Styled as _, Window, div, prelude::FluentBuilder as _, px, uniform_list,
};
use ui::{
    ActiveTheme as _, Banner, Button, ButtonStyle, EmptyState, Icon, IconButton, IconSize, Label,
    Menu, MenuAnchor, PopupMenu, TextField, Tone, dp,
};

use super::{ChangesPanel, ChangesPanelEvent, bisect, branch_name, identity};
use crate::actions as act;
use crate::message::RULERS;
use crate::rows::shown;
use crate::service::GitFailureKind;
use crate::state::RepositoryState;
use git_program::PromptKind;

/// Window height in pixels below which the message has fewer lines.
const LOW: f32 = 600.0;

impl ChangesPanel {
    /// Draws the branch with its upstream, and the buttons for remotes.
    fn render_branch(&self, repository: &RepositoryState, cx: &Context<Self>) -> AnyElement {
        let words = branch_words(repository);
        let button = |id: &'static str, icon: Icon, name: &'static str, action: Box<dyn Action>| {
            IconButton::new(id, icon, name).small().action(action)
        };
        let branch = div()
            .id("git-branch")
            .role(Role::Button)
            .test_support()
            .aria_label(format!("Switch the branch: {words}"))
            .flex()
            .flex_1()
            .min_w_0()
            .items_center()
            .gap(dp(6.0))
            .cursor_pointer()
            .on_click(cx.listener(|this, _, window, cx| this.choose_branch(window, cx)))
            .child(Icon::GitBranch.size(IconSize::Medium))
            .child(div().min_w_0().truncate().child(words));
        div()
            .flex()
            .flex_none()
            .items_center()
            .h(dp(36.0))
            .px(dp(12.0))
            .gap(dp(2.0))
            .child(branch)
            .child(button(
                "git-fetch",
                Icon::Refresh,
                "Fetch",
                Box::new(act::Fetch),
            ))
            .child(button(
                "git-pull",
                Icon::ArrowDown,
                "Pull",
                Box::new(act::Pull),
            ))
            .child(button(
                "git-push",
                Icon::ArrowUp,
                "Push",
                Box::new(act::Push),
            ))
            .child(
                IconButton::new("git-tree", Icon::ListTree, "Show files in their folders")
                    .small()
                    .pressed(self.state.is_tree)
                    .action(Box::new(act::ToggleTree)),
            )
            .child(
                IconButton::new("git-more", Icon::Ellipsis, "More Git commands")
                    .small()
                    .on_click(cx.listener(|this, event: &ClickEvent, window, cx| {
                        this.open_menu(repository_menu(), event, window, cx);
                    })),
            )
            .into_any_element()
    }

    /// Draws the sentences above the list: operation, call, question, prompt, notice.
    fn render_banners(&self, cx: &Context<Self>) -> Vec<AnyElement> {
        let changes = self.state.current().and_then(|it| it.changes.as_ref());
        let operation = changes.and_then(|changes| changes.operation.as_ref());
        let banners = [
            operation.map(|operation| {
                let bisection = bisect::render(self, operation);
                bisection.unwrap_or_else(|| render_operation(operation))
            }),
            self.render_call(),
            self.render_question(cx),
            self.render_prompt(cx),
            identity::render(self, cx),
            self.render_notice(cx),
        ];
        banners.into_iter().flatten().collect()
    }

    fn render_call(&self) -> Option<AnyElement> {
        let call = self.call.as_ref()?;
        let text = if call.last_line.is_empty() {
            format!("{}\u{2026}", call.label)
        } else {
            format!("{}\u{2026} {}", call.label, call.last_line)
        };
        let banner = Banner::new("git-call", Tone::Info, text)
            .child(Button::new("git-cancel-call", "Cancel").action(Box::new(act::CancelCall)));
        Some(banner.into_any_element())
    }

    fn render_question(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let (text, yes) = self.question.as_ref()?.words();
        let banner = Banner::new("git-question", Tone::Warning, text)
            .child(
                Button::new("git-question-cancel", "Cancel")
                    .track_focus(&self.cancel_focus)
                    .on_click(cx.listener(|this, _, window, cx| {
                        this.dismiss_question(window, cx);
                    })),
            )
            .child(
                Button::new("git-question-confirm", yes)
                    .style(ButtonStyle::Danger)
                    .on_click(cx.listener(|this, _, window, cx| {
                        this.confirm_question(window, cx);
                    })),
            );
        let question = div().key_context("GitPrompt").child(banner);
        Some(question.into_any_element())
    }

    fn render_prompt(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let prompt = self.prompt.as_ref()?;
        let has_answer = prompt.kind != PromptKind::Presence;
        let refuse = Button::new("git-prompt-refuse", "Refuse")
            .on_click(cx.listener(|this, _, window, cx| this.refuse_prompt(window, cx)));
        let answer = Button::new("git-prompt-answer", "Answer")
            .style(ButtonStyle::Primary)
            .on_click(cx.listener(|this, _, window, cx| this.answer_prompt(window, cx)));
        let field = div()
            .px(dp(12.0))
            .pb(dp(8.0))
            .child(TextField::new(&prompt.field, "Answer"));
        let element = div()
            .key_context("GitPrompt")
            .child(
                Banner::new("git-prompt", Tone::Info, prompt.text.clone())
                    .child(refuse)
                    .when(has_answer, |banner| banner.child(answer)),
            )
            .when(has_answer, |element| element.child(field));
        Some(element.into_any_element())
    }

    fn render_notice(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let notice = self.notice.as_ref()?;
        let mut text = notice.text.clone();
        if let Some(hook) = &notice.hook {
            text = format!("{text}\n{}", hook.last_lines).into();
        }
        let banner = Banner::new("git-notice", notice.tone, text)
            .when(notice.hook.is_some(), |banner| {
                let label = if self.shows_log {
                    "Hide output"
                } else {
                    "Show whole output"
                };
                banner.child(Button::new("git-log", label).action(Box::new(act::ToggleLog)))
            })
            .when(notice.needs_trust, |banner| banner.child(trust_button(cx)))
            .child(
                IconButton::new("git-notice-close", Icon::Close, "Close")
                    .small()
                    .on_click(cx.listener(|this, _, _, cx| {
                        this.notice = None;
                        cx.notify();
                    })),
            );
        let log = notice.hook.as_ref().filter(|_| self.shows_log);
        let log = log.map(|hook| render_log(&hook.log, cx));
        Some(div().child(banner).children(log).into_any_element())
    }

    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        if let Some(empty) = self.render_empty(cx) {
            return empty;
        }
        uniform_list(
            "git-rows",
            self.state.rows().len(),
            cx.processor(Self::render_rows),
        )
        .track_scroll(&self.scroll)
        .size_full()
        .into_any_element()
    }

    /// Draws what replaces an empty list; `None` if there are rows.
    fn render_empty(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let current = self.state.current();
        let failure = self.failure.as_ref();
        let failure = failure.or_else(|| current.and_then(|it| it.failure.as_ref()));
        if let Some(failure) = failure {
            let is_untrusted = failure.kind == GitFailureKind::Untrusted;
            let empty = EmptyState::new("The changes cannot be shown")
                .icon(Icon::Warning)
                .detail(failure.sentence.clone())
                .when(is_untrusted, |empty| empty.child(trust_button(cx)));
            return Some(empty.into_any_element());
        }
        if !self.is_listed || current.is_some_and(|it| it.changes.is_none()) {
            return Some(EmptyState::new("Reading the changes\u{2026}").into_any_element());
        }
        if self.state.repositories.is_empty() {
            let empty = EmptyState::new("This folder is in no Git repository")
                .icon(Icon::FolderGit)
                .child(
                    Button::new("git-initialize", "Initialize repository")
                        .action(Box::new(act::InitializeRepository)),
                );
            return Some(empty.into_any_element());
        }
        if self.state.rows().is_empty() {
            let empty = EmptyState::new("There are no changes")
                .icon(Icon::Check)
                .detail("Every file is as in the last commit.");
            return Some(empty.into_any_element());
        }
        None
    }

    fn render_message(
        &self,
        repository: &RepositoryState,
        window: &Window,
        cx: &Context<Self>,
    ) -> Option<AnyElement> {
        let message = self.message(&repository.info.root)?.read(cx);
        let colors = cx.theme().colors;
        let is_low = f32::from(window.viewport_size().height) < LOW;
        let height = if is_low { 56.0 } else { 96.0 };
        let length = message.subject_len(cx);
        let is_long = length > RULERS[0] as usize;
        let hint = is_long.then(|| {
            let text = format!("Subject: {length} characters, at best {}", RULERS[0]);
            Label::new(text).tiny().color(colors.warning)
        });
        let is_typed_in = message.editor().focus_handle(cx).is_focused(window);
        let placeholder = (message.text(cx).is_empty() && !is_typed_in).then(|| {
            let hint = Label::new("Message of the commit").small().muted();
            div().absolute().top(dp(3.0)).left(dp(15.0)).child(hint)
        });
        let field = div()
            .id("git-message")
            .role(Role::Group)
            .test_support()
            .aria_label("Message of the commit")
            .h(dp(height))
            .w_full()
            .border_1()
            .border_color(colors.border_strong)
            .rounded(px(4.0))
            .overflow_hidden()
            .relative()
            .bg(colors.surface)
            .child(message.editor().clone())
            .children(placeholder);
        let element = div()
            .flex()
            .flex_col()
            .flex_none()
            .gap(dp(8.0))
            .p(dp(12.0))
            .border_t_1()
            .border_color(colors.border)
            .child(field)
            .children(hint)
            .child(self.render_buttons(cx));
        Some(element.into_any_element())
    }

    fn render_buttons(&self, cx: &Context<Self>) -> AnyElement {
        let busy = self.call.as_ref().map(|call| {
            let text = format!("Git is busy: {}", call.label.to_lowercase());
            SharedString::from(text)
        });
        div()
            .flex()
            .items_center()
            .gap(dp(4.0))
            .child(
                Button::new("git-commit", "Commit")
                    .style(ButtonStyle::Primary)
                    .disabled(busy)
                    .with_keys()
                    .action(Box::new(act::Commit)),
            )
            .child(
                IconButton::new(
                    "git-commit-more",
                    Icon::ChevronDown,
                    "Other forms of commit",
                )
                .on_click(cx.listener(|this, event: &ClickEvent, window, cx| {
                    this.open_menu(commit_menu(), event, window, cx);
                })),
            )
            .into_any_element()
    }
}

impl ChangesPanel {
    /// Opens a menu at the button that was clicked.
    fn open_menu(
        &mut self,
        menu: Menu,
        event: &ClickEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let menu = menu.focus(self.focus.clone());
        let popup = PopupMenu::open(menu, MenuAnchor::Point(event.position()), window, cx);
        let dismissed = cx.subscribe(&popup, |this, _, _: &DismissEvent, cx| {
            this.menu = None;
            cx.notify();
        });
        self.menu = Some((popup, dismissed));
        cx.notify();
    }
}

/// Draws the operation in progress with its buttons.
fn render_operation(operation: &Operation) -> AnyElement {
    let can_skip = !matches!(operation.kind, OperationKind::Merge | OperationKind::Bisect);
    let is_bisect = operation.kind == OperationKind::Bisect;
    let button = |id: &'static str, label: &'static str, action: Box<dyn Action>| {
        Button::new(id, label).action(action)
    };
    Banner::new("git-operation", Tone::Info, operation_words(operation))
        .when(!is_bisect, |banner| {
            banner.child(button(
                "git-continue",
                "Continue",
                Box::new(act::ContinueOperation),
            ))
        })
        .when(can_skip, |banner| {
            banner.child(button("git-skip", "Skip", Box::new(act::SkipCommit)))
        })
        .child(button("git-abort", "Abort", Box::new(act::AbortOperation)))
        .into_any_element()
}

fn render_log(log: &str, cx: &Context<ChangesPanel>) -> AnyElement {
    let theme = cx.theme();
    let lines = log.lines().map(|line| {
        let line = ui::foreign::one_line(line.to_owned());
        div().whitespace_nowrap().child(line)
    });
    let lines: Vec<_> = lines.collect();
    div()
        .id("git-hook-log")
        .role(Role::Log)
        .test_support()
        .aria_label(ui::foreign::multi_line(log.to_owned()))
        .max_h(dp(160.0))
        .w_full()
        .overflow_scroll()
        .p(dp(12.0))
        .font(theme.code_font())
        .text_size(dp(12.0))
        .children(lines)
        .into_any_element()
}

fn trust_button(cx: &Context<ChangesPanel>) -> Button {
    Button::new("git-trust", "Trust folder")
        .on_click(cx.listener(|_, _, _, cx| cx.emit(ChangesPanelEvent::TrustRequested)))
}

/// Returns the branch with its upstream in words: `main, 1 ahead of and 2 behind origin/main`.
fn branch_words(repository: &RepositoryState) -> String {
    let Some(changes) = &repository.changes else {
        return shown(&repository.info.name);
    };
    let branch = shown(&branch_name(changes));
    let mut words = match &changes.head {
        HeadState::Detached { .. } => format!("detached at {branch}"),
        HeadState::Branch { .. } | HeadState::Unborn { .. } => branch,
    };
    let Some(upstream) = &changes.upstream else {
        return words;
    };
    let name = shown(&upstream.name);
    if upstream.is_gone {
        return format!("{words} ({name} is gone)");
    }
    for (count, arrow) in [(upstream.ahead, '\u{2191}'), (upstream.behind, '\u{2193}')] {
        if count > 0 {
            words = format!("{words} {arrow}{count}");
        }
    }
    format!("{words} \u{b7} {name}")
}

/// Returns the operation in words: `Rebasing topic, step 2 of 5`.
fn operation_words(operation: &Operation) -> String {
    let mut words = match operation.kind {
        OperationKind::Merge => "Merging",
        OperationKind::Rebase => "Rebasing",
        OperationKind::CherryPick => "Cherry-picking",
        OperationKind::Revert => "Reverting",
        OperationKind::Bisect => "Bisecting",
        OperationKind::ApplyMail => "Applying patches",
    }
    .to_owned();
    if let Some(branch) = &operation.branch {
        words = format!("{words} {}", shown(branch));
    }
    if let Some((step, steps)) = operation.progress {
        words = format!("{words}, step {step} of {steps}");
    }
    words
}

fn commit_menu() -> Menu {
    Menu::new()
        .action("Commit", Box::new(act::Commit))
        .action("Commit and push", Box::new(act::CommitAndPush))
        .action("Amend last commit", Box::new(act::Amend))
        .action("Commit signed off", Box::new(act::CommitSignedOff))
        .separator()
        .action(
            "Commit without hooks\u{2026}",
            Box::new(act::CommitWithoutHooks),
        )
        .separator()
        .action("Use last message", Box::new(act::UseLastMessage))
        .action("Suggest message", Box::new(act::SuggestMessage))
}

fn repository_menu() -> Menu {
    Menu::new()
        .action("Stage all", Box::new(act::StageAll))
        .action("Unstage all", Box::new(act::UnstageAll))
        .action("Undo", Box::new(act::Undo))
        .separator()
        .action("Switch branch\u{2026}", Box::new(act::SwitchBranch))
        .action("Create branch\u{2026}", Box::new(act::CreateBranch))
        .action(
            "Check out pull request\u{2026}",
            Box::new(act::CheckOutPullRequest),
        )
        .separator()
        .action("Stash", Box::new(act::Stash))
        .action("Pop stash", Box::new(act::StashPop))
        .separator()
        .action("Rebase commits\u{2026}", Box::new(act::RebaseCommits))
        .action("Start bisect\u{2026}", Box::new(act::StartBisect))
        .action("Push with lease\u{2026}", Box::new(act::PushWithLease))
        .action("Set name and address\u{2026}", Box::new(act::SetIdentity))
        .action("Refresh", Box::new(act::Refresh))
}

impl Render for ChangesPanel {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let current = self.state.current();
        let branch = current.map(|repository| self.render_branch(repository, cx));
        let message = current.and_then(|repository| self.render_message(repository, window, cx));
        let banners = self.render_banners(cx);
        let list = div()
            .id("git-changes")
            .role(Role::Tree)
            .aria_label("Changes")
            .track_focus(&self.focus)
            .key_context("GitChanges")
            .flex_1()
            .min_h_0()
            .w_full();
        let list = Self::with_list_actions(list, cx)
            .test_support()
            .child(self.render_list(cx));
        let panel = div()
            .id("git-panel")
            .role(Role::Group)
            .aria_label("Git changes")
            .track_focus(&self.region)
            .key_context("GitPanel")
            .flex()
            .flex_col()
            .size_full()
            .text_size(dp(13.0))
            .text_color(cx.theme().colors.text);
        Self::with_panel_actions(panel, cx)
            .test_support()
            .children(branch)
            .children(banners)
            .child(list)
            .children(message)
            .children(self.menu.as_ref().map(|(menu, _)| menu.clone()))
    }
}
