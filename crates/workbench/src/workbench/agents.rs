//! The agents panel at the right edge of a window.

use std::path::Path;

use base::{ByteOffset, Span};
use composer_panel::actions::{
    AllowHooks, BuildPlan, ChooseModel, CompactSession, DistrustFolder, FocusPanel, KeepAllChanges,
    NewSession, RejectAllChanges, RestoreCheckpoint, ReviewChanges, ShowAutomations, ShowBoard,
    ShowContext, ShowQuality, ShowSessions, ShowSpending, Stop, TogglePanel, TrustFolder,
};
use composer_panel::agents::{ExternalAgentEntry, SessionChange};
use composer_panel::{ComposerPanel, PanelEvent, SessionVisibility, session_notice};
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, Div, Empty, Entity, Focusable as _,
    InteractiveElement as _, IntoElement as _, ParentElement as _, Pixels, Stateful,
    StatefulInteractiveElement as _, StyleRefinement, Styled as _, Subscription, Window, div, px,
    relative,
};
use text::{Author, Edit};
use ui::{ActiveSettings as _, ActiveTheme as _, ButtonStyle, Tone};

use super::Workbench;
use crate::documents::Documents;
use crate::notices::Notice;
use crate::open_options::{GoToPosition, OpenOptions};
use crate::pickers::choices;
use crate::question::QuestionSpec;
use crate::region::region;
use crate::services::Services;
use crate::session::SavedDock;
use crate::system_notices;
use crate::target::LineColumn;
use crate::workbench::{
    agent_machine, agent_terminals, conflicts, external_agents, prompt_selection, review,
};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(toggle_agents))
        .on_action(cx.listener(focus_agents))
        .on_action(cx.listener(new_agent_session))
        .on_action(cx.listener(external_agents::new_external_session))
        .on_action(cx.listener(external_agents::choose_agent_option))
        .on_action(cx.listener(agent_machine::choose_machine))
        .on_action(cx.listener(agent_terminals::show_agent_terminals))
        .on_action(cx.listener(show_agent_sessions))
        .on_action(cx.listener(show_agent_board))
        .on_action(cx.listener(stop_agent))
        .on_action(cx.listener(prompt_selection::add_selection))
        .on_action(cx.listener(trust_folder))
        .on_action(cx.listener(distrust_folder))
        .on_action(cx.listener(allow_hooks))
        .on_action(cx.listener(choose_model_action))
        .on_action(cx.listener(show_context))
        .on_action(cx.listener(compact_session))
        .on_action(cx.listener(show_spending))
        .on_action(cx.listener(show_quality))
        .on_action(cx.listener(show_automations))
        .on_action(cx.listener(build_plan))
        .on_action(cx.listener(review_changes))
        .on_action(cx.listener(keep_all_changes))
        .on_action(cx.listener(reject_all_changes))
        .on_action(cx.listener(restore_checkpoint))
}

/// Drag of the panel's border.
pub(super) struct DraggedAgentsBorder;

/// Minimum and maximum width of the panel while dragging, in pixels.
const WIDTHS: (f32, f32) = (280.0, 1200.0);
/// Window width, in pixels, below which the panel overlays the text.
const NARROW_FOR_AGENTS: f32 = 900.0;

/// Visibility and width of the panel.
pub(super) struct AgentsDock {
    /// The panel that is shown: of this computer or of another machine.
    pub(super) panel: Entity<ComposerPanel>,
    /// The panel of this computer's agents. Only its paths are files of this computer.
    pub(super) local: Entity<ComposerPanel>,
    /// The subscriptions to the panel of another machine.
    pub(super) machine_subscriptions: Vec<Subscription>,
    pub(super) is_shown: bool,
    pub(super) width: Pixels,
    /// The machine and the session of the latest system notification; `None` if that one is about the
    /// board.
    pub(super) notified: Option<(Option<String>, String)>,
}

impl AgentsDock {
    /// Creates the hidden panel with its default width.
    pub(super) fn new(window: &mut Window, cx: &mut Context<Workbench>) -> Self {
        let engines = Services::of(cx).agents;
        let local = cx.new(|cx| ComposerPanel::new(engines, None, window, cx));
        Self {
            panel: local.clone(),
            local,
            machine_subscriptions: Vec::new(),
            is_shown: false,
            width: px(420.0),
            notified: None,
        }
    }

    /// Returns the visibility and width to store.
    pub(super) fn saved(&self) -> SavedDock {
        SavedDock {
            is_shown: self.is_shown,
            width: f32::from(self.width),
        }
    }

    /// Restores a stored visibility and width.
    pub(super) fn restore(
        &mut self,
        saved: &SavedDock,
        window: &mut Window,
        cx: &mut Context<Workbench>,
    ) {
        self.is_shown = saved.is_shown;
        self.width = px(saved.width.clamp(WIDTHS.0, WIDTHS.1));
        if self.is_shown {
            self.panel.update(cx, |panel, cx| panel.wake(window, cx));
        }
    }
}

impl Workbench {
    /// Returns the agents panel.
    pub fn agents(&self) -> &Entity<ComposerPanel> {
        &self.agents.panel
    }

    /// Returns the panel of this computer's agents, which may be hidden behind that of another machine.
    pub(crate) fn local_agents(&self) -> &Entity<ComposerPanel> {
        &self.agents.local
    }

    /// Returns whether agents go on when the windows are closed.
    pub(crate) fn agents_outlive_windows(&self) -> bool {
        let agents = self.services.agents.as_ref();
        agents.is_some_and(|agents| agents.outlives_windows())
    }

    /// Shows the session of the latest system notification.
    pub(crate) fn show_notified_session(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some((machine, id)) = self.agents.notified.take() {
            if self.agents.panel.read(cx).machine() != machine {
                self.use_machine(machine.as_deref(), window, cx);
            }
            show_and_update(self, window, cx, |panel, window, cx| {
                panel.show_session(id, window, cx);
            });
        }
    }

    /// Returns whether the agents panel is visible. In a narrow window it overlays the text, so it
    /// is hidden while the text has the focus.
    pub(crate) fn is_agents_visible(&self, window: &Window, cx: &App) -> bool {
        let is_in_text = || {
            let item = self.active_item();
            item.is_some_and(|item| item.focus_handle(cx).contains_focused(window, cx))
        };
        self.agents.is_shown && !(is_narrow_for_agents(window) && is_in_text())
    }
}

fn toggle_agents(
    workbench: &mut Workbench,
    _: &TogglePanel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if workbench.is_agents_visible(window, cx) {
        hide_agents(workbench, window, cx)
    } else {
        show_agents(workbench, window, cx)
    }
}

fn focus_agents(
    workbench: &mut Workbench,
    _: &FocusPanel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let focus = workbench.agents.panel.read(cx).focus_handle(cx);
    if workbench.agents.is_shown && focus.contains_focused(window, cx) {
        workbench.focus_active(window, cx)
    } else {
        show_agents(workbench, window, cx)
    }
}

pub(super) fn show_agents(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench.agents.is_shown = true;
    workbench.agents.panel.update(cx, |panel, cx| {
        panel.wake(window, cx);
        panel.note_seen(cx);
        panel.focus_prompt(window, cx);
    });
    workbench.layout_changed(cx);
}

/// Shows the panel, then updates it.
pub(super) fn show_and_update(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
    update: impl FnOnce(&mut ComposerPanel, &mut Window, &mut Context<ComposerPanel>),
) {
    show_agents(workbench, window, cx);
    let panel = &workbench.agents.panel;
    panel.update(cx, |panel, cx| update(panel, window, cx));
}

impl Workbench {
    /// Shows the panel and adds `text` to the prompt of the open session, or of a new one, after the
    /// draft.
    pub(super) fn add_to_prompt(
        &mut self,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        show_and_update(self, window, cx, |panel, window, cx| {
            panel.add_to_prompt(text, window, cx);
        });
    }

    /// Shows the panel with a new session and `text` in its prompt; the user completes and sends it.
    pub(crate) fn draft_for_agent(
        &mut self,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        show_and_update(self, window, cx, |panel, window, cx| {
            panel.draft_prompt(text, window, cx);
        });
    }
}

fn hide_agents(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    workbench.agents.is_shown = false;
    workbench.focus_active(window, cx);
    workbench.layout_changed(cx);
}

fn new_agent_session(
    workbench: &mut Workbench,
    _: &NewSession,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.open_new_session(window, cx)
    });
}

/// Shows the panel, whose next prompt starts an external agent.
pub(super) fn start_external(
    workbench: &mut Workbench,
    agent: ExternalAgentEntry,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.choose_external(agent, window, cx)
    });
}

fn trust_folder(
    workbench: &mut Workbench,
    action: &TrustFolder,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.trust_folder(action, window, cx)
    });
}

fn distrust_folder(
    workbench: &mut Workbench,
    action: &DistrustFolder,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.distrust_folder(action, window, cx)
    });
}

fn allow_hooks(
    workbench: &mut Workbench,
    action: &AllowHooks,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.allow_hooks(action, window, cx)
    });
}

fn show_agent_sessions(
    workbench: &mut Workbench,
    _: &ShowSessions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.list_sessions(window, cx)
    });
}

fn show_agent_board(
    workbench: &mut Workbench,
    _: &ShowBoard,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.open_board(window, cx)
    });
}

fn show_context(
    workbench: &mut Workbench,
    action: &ShowContext,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.show_context(action, window, cx)
    });
}

fn compact_session(
    workbench: &mut Workbench,
    action: &CompactSession,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.compact_session(action, window, cx)
    });
}

fn show_spending(
    workbench: &mut Workbench,
    action: &ShowSpending,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.show_spending(action, window, cx)
    });
}

fn show_quality(
    workbench: &mut Workbench,
    action: &ShowQuality,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.show_quality(action, window, cx)
    });
}

fn show_automations(
    workbench: &mut Workbench,
    action: &ShowAutomations,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.show_automations(action, window, cx)
    });
}

fn build_plan(
    workbench: &mut Workbench,
    action: &BuildPlan,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.build_plan(action, window, cx)
    });
}

fn review_changes(
    workbench: &mut Workbench,
    action: &ReviewChanges,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.review_changes(action, window, cx)
    });
}

fn keep_all_changes(
    workbench: &mut Workbench,
    action: &KeepAllChanges,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.keep_all_changes(action, window, cx)
    });
}

fn reject_all_changes(
    workbench: &mut Workbench,
    action: &RejectAllChanges,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.reject_all_changes(action, window, cx)
    });
}

fn restore_checkpoint(
    workbench: &mut Workbench,
    action: &RestoreCheckpoint,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_and_update(workbench, window, cx, |panel, window, cx| {
        panel.restore_selected(action, window, cx)
    });
}

fn stop_agent(workbench: &mut Workbench, _: &Stop, _: &mut Window, cx: &mut Context<Workbench>) {
    workbench.agents.panel.read(cx).stop_turn();
}

fn choose_model_action(
    workbench: &mut Workbench,
    _: &ChooseModel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    choose_model(workbench, window, cx);
}

fn choose_model(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    // An external agent has its own models.
    if let Some(option) = workbench.agents.panel.read(cx).agent_model_option() {
        let option = option.clone();
        return workbench.choose_agent_value(option, window, cx);
    }
    let choices = choices::models(workbench.agents.panel.clone(), cx);
    workbench.pick(choices, window, cx);
}

/// Handles a request of the panel to the window.
pub(super) fn agents_event(
    workbench: &mut Workbench,
    panel: &Entity<ComposerPanel>,
    event: &PanelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(machine) = panel.read(cx).machine()
        && let Some(sentence) = agent_machine::refusal(event, &machine)
    {
        workbench.tell(agent_machine::NOTICE, sentence, window, cx);
        return;
    }
    match event {
        PanelEvent::ChooseModel => choose_model(workbench, window, cx),
        PanelEvent::ChooseHistory(model) => {
            let (model, this) = (model.clone(), cx.weak_entity());
            // After the list of models has closed.
            window.defer(cx, move |window, cx| {
                this.update(cx, |workbench, cx| {
                    let panel = workbench.agents.panel.clone();
                    workbench.pick(choices::histories(panel, model, cx), window, cx);
                })
                .ok();
            });
        }
        PanelEvent::ChooseEffort => {
            let choices = choices::efforts(workbench.agents.panel.clone(), cx);
            workbench.pick(choices, window, cx);
        }
        PanelEvent::OpenFile(path, line) => {
            let options = OpenOptions::lasting()
                .at(line.map(|line| GoToPosition::Place(LineColumn::new(line, 1))));
            workbench.open_path(path.clone(), options, window, cx);
        }
        PanelEvent::OpenTerminal(command) => {
            agent_terminals::open_command(workbench, panel, command, window, cx);
        }
        PanelEvent::TerminalMentioned(id) => {
            agent_terminals::mention_terminal(workbench, id, window, cx);
        }
        PanelEvent::BoardChanged => workbench.refresh_review(cx),
        PanelEvent::TrustChanged => {
            workbench.reload_language_servers(cx);
            super::tasks::trust_changed(workbench, window, cx);
        }
        PanelEvent::WriteDispute { agent, path, draft } => {
            conflicts::write_dispute(workbench, (agent, path), draft, window, cx);
        }
        PanelEvent::ChooseTurn { agent, turns } => {
            let choices =
                choices::turn_picker(workbench.agents.panel.clone(), agent.clone(), *turns);
            workbench.pick(choices, window, cx);
        }
        PanelEvent::ConfirmRestore(request) => {
            let panel = workbench.agents.panel.clone();
            workbench.pick(choices::confirm_restore(panel, request), window, cx);
        }
        PanelEvent::EditBuffers(edits) => review::edit_buffers(workbench, edits, window, cx),
        PanelEvent::Problem(sentence) => {
            let notice = Notice::new(Tone::Warning, sentence.clone()).key(sentence);
            workbench.report(notice, window, cx);
        }
        PanelEvent::SessionChanged(change) => {
            notify_of_session(workbench, panel, change, window, cx);
        }
        PanelEvent::ConfirmDelete { id, title } => {
            confirm_delete(workbench, id.clone(), title, window, cx);
        }
        PanelEvent::ShowExport(text) => show_text(workbench, text, "a.md", window, cx),
        PanelEvent::Leave => workbench.focus_active(window, cx),
    }
}

/// Notifies the user of a change of a session that they do not see.
fn notify_of_session(
    workbench: &mut Workbench,
    panel: &Entity<ComposerPanel>,
    change: &SessionChange,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let is_visible = workbench.is_agents_visible(window, cx) && *panel == workbench.agents.panel;
    let visibility = SessionVisibility {
        is_window_active: window.is_window_active(),
        is_shown: is_visible && panel.read(cx).shows_session(&change.id),
    };
    let notice = session_notice(&change.kind, visibility, &cx.settings().agents);
    if notice.is_unread {
        let is_stored = !change.has_view;
        panel.update(cx, |panel, cx| panel.note_news(&change.id, is_stored, cx));
    }
    if notice.has_notification {
        let title = panel.read(cx).session_title(&change.id);
        system_notices::session_changed(cx.entity_id(), &title, &change.kind, cx);
        workbench.agents.notified = Some((panel.read(cx).machine(), change.id.clone()));
    }
    if notice.has_sound {
        window.play_system_bell();
    }
}

/// Asks whether to delete a session, and deletes it if the user agrees.
fn confirm_delete(
    workbench: &mut Workbench,
    id: String,
    title: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let spec = QuestionSpec {
        title: format!("Delete \u{201c}{title}\u{201d}?").into(),
        detail: "The session is no longer listed and cannot be continued. Its text stays in the ledger file on this \
                 computer, because the ledger is never changed. To hide the session only, archive it."
            .into(),
        answers: vec![
            ("Delete".into(), ButtonStyle::Danger),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let answer = workbench.ask(spec, window, cx);
    let panel = workbench.agents.panel.clone();
    cx.spawn_in(window, async move |_, cx| {
        if let Ok(0) = answer.await {
            // The window may be gone by then.
            panel
                .update_in(cx, |panel, window, cx| panel.delete_session(id, window, cx))
                .ok();
        }
    })
    .detach();
}

/// Shows a text in an untitled text, in the language of files with the name `name`.
pub(super) fn show_text(
    workbench: &mut Workbench,
    text: &str,
    name: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let document = Documents::untitled(cx);
    document.update(cx, |document, cx| {
        let insert = Edit::new(Span::at(ByteOffset(0)), text.to_owned());
        document.edit(&[insert], Author::User, cx);
        document.set_language(syntax::language_for(Path::new(name), ""), cx);
    });
    workbench.leave_place(cx);
    let pane = workbench.layout.active_pane();
    workbench.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
}

/// Sets the panel's width, within limits, while the user drags its border to `at`. `room` is the
/// width of the window.
pub(super) fn drag_agents_border(
    workbench: &mut Workbench,
    at: Pixels,
    room: Pixels,
    cx: &mut Context<Workbench>,
) {
    let most = WIDTHS.1.min(f32::from(room) * 0.8).max(WIDTHS.0);
    let width = f32::from(room - at).clamp(WIDTHS.0, most);
    workbench.agents.width = px(width);
    workbench.store_soon(cx);
    cx.notify();
}

/// Draws the panel with its border. Returns `None` if the panel is not visible.
pub(super) fn render_agents(
    workbench: &Workbench,
    window: &Window,
    cx: &Context<Workbench>,
) -> Option<AnyElement> {
    if !workbench.is_agents_visible(window, cx) {
        return None;
    }
    let colors = cx.theme().colors;
    let handle = div()
        .id("agents-border")
        .absolute()
        .top_0()
        .bottom_0()
        .left(px(-3.0))
        .w(px(6.0))
        .cursor_col_resize()
        .occlude()
        .on_drag(DraggedAgentsBorder, |_, _, _, cx| cx.new(|_| Empty));
    let dock = div()
        .relative()
        .flex_none()
        .h_full()
        .w(workbench.agents.width)
        .max_w(relative(0.9))
        .bg(colors.raised)
        .border_l_1()
        .border_color(colors.border)
        .child(region(
            workbench.agents.panel.clone(),
            StyleRefinement::default().size_full(),
            window,
        ))
        .child(gpui_kit::deferred(handle));
    Some(if is_narrow_for_agents(window) {
        let dock = dock.absolute().top_0().bottom_0().right_0();
        gpui_kit::deferred(dock.shadow_lg().occlude()).into_any_element()
    } else {
        dock.into_any_element()
    })
}

/// Whether the window is so narrow that the agents panel overlays the text.
fn is_narrow_for_agents(window: &Window) -> bool {
    f32::from(window.viewport_size().width) < NARROW_FOR_AGENTS
}
