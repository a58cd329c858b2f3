//! The status bar: properties of the focused text, each as a button.

use composer_panel::actions::{FocusPanel, ShowSessions};
use composer_panel::{AgentCounts, ComposerPanel};
use editor::{DocumentModel, Editor, EditorEvent, VimEvent, vim_status};
use git_panel::GitSummary;
use git_panel::actions::ShowChanges;
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    Action, App, Context, Entity, InteractiveElement as _, IntoElement, ParentElement as _, Render,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, Window, div,
    px,
};
use preview_view::{PreviewStatus, PreviewTab};
use syntax::Language;
use text::{FileFormat, LineEnding, LineEndings};
use ui::foreign::one_line;
use ui::{ActivePlatform as _, ActiveTheme as _, Icon, IconSize, Label, Tone, Tooltip, dp};

use crate::actions::{app, file, go, suggestions, view, vim};
use crate::configuration::Configuration;
use crate::folder::OpenFolder;
use crate::indentation::indentation_name;
use crate::prediction::Prediction;

mod language_status;

use language_status::LanguageStatus;

/// The status bar of one window.
pub(crate) struct StatusStrip {
    folder: Option<Entity<OpenFolder>>,
    prediction: Entity<Prediction>,
    panel: Entity<ComposerPanel>,
    followed: Option<Entity<Editor>>,
    /// The preview of the active pane.
    preview: Option<PreviewTab>,
    properties: Option<TextProperties>,
    /// Status of Tab, and whether it is a failure.
    suggestions: (SharedString, bool),
    agents: AgentCounts,
    language: LanguageStatus,
    /// Branch and changes of the repository, if the panel of changes knows them.
    git: Option<GitSummary>,
    _follows: Vec<Subscription>,
}

/// Properties of a text, without its caret.
#[derive(Clone, Copy, PartialEq)]
struct TextProperties {
    language: Option<Language>,
    format: FileFormat,
    line_ending: LineEnding,
}

/// One item of the status bar.
struct StatusItem {
    id: &'static str,
    text: SharedString,
    icon: Option<Icon>,
    tone: Option<Tone>,
    help: &'static str,
    action: Box<dyn Action>,
}

impl StatusItem {
    fn new(
        id: &'static str,
        text: impl Into<SharedString>,
        help: &'static str,
        action: impl Action,
    ) -> Self {
        Self {
            id,
            text: text.into(),
            icon: None,
            tone: None,
            help,
            action: Box::new(action),
        }
    }
}

impl StatusItem {
    fn of_preview(status: PreviewStatus) -> Self {
        Self {
            id: status.id,
            text: status.text,
            icon: None,
            tone: None,
            help: status.help,
            action: status.action,
        }
    }
}

impl TextProperties {
    fn of(model: &DocumentModel) -> Self {
        let document = model.document();
        Self {
            language: model.language(),
            format: document.format(),
            line_ending: document.buffer().line_ending(),
        }
    }
}

impl StatusStrip {
    /// Creates the bar of a window without folder and text.
    pub(crate) fn new(prediction: Entity<Prediction>, panel: Entity<ComposerPanel>) -> Self {
        Self {
            folder: None,
            prediction,
            panel,
            followed: None,
            preview: None,
            properties: None,
            suggestions: Default::default(),
            agents: AgentCounts::default(),
            language: LanguageStatus::default(),
            git: None,
            _follows: Vec::new(),
        }
    }

    /// Sets the open folder.
    pub(crate) fn set_folder(
        &mut self,
        folder: Option<Entity<OpenFolder>>,
        cx: &mut Context<Self>,
    ) {
        self.folder = folder;
        self.note_language(cx);
        cx.notify();
    }

    /// Follows the text shown in the active pane; `None` hides the properties of the text.
    pub(crate) fn follow(&mut self, editor: Option<Entity<Editor>>, cx: &mut Context<Self>) {
        cx.notify();
        // The view may be borrowed during this call, so it is read afterwards.
        let this = cx.weak_entity();
        cx.defer(move |cx| {
            this.update(cx, |this, cx| this.follow_now(editor, cx)).ok();
        });
    }

    /// Shows the properties of the preview in the active pane; `None` hides them.
    pub(crate) fn follow_preview(&mut self, preview: Option<PreviewTab>, cx: &mut Context<Self>) {
        if preview.is_some() || self.preview.is_some() {
            self.preview = preview;
            cx.notify();
        }
    }

    /// Copies the panel's counts of agents, and redraws the bar only if the counts changed.
    pub(crate) fn note_agents(&mut self, cx: &mut Context<Self>) {
        let agents = self.panel.read(cx).agent_counts();
        // The panel notifies on every token; only the counts matter here.
        if agents != self.agents {
            self.agents = agents;
            cx.notify();
        }
    }

    /// Copies the status of Tab, and redraws the bar only if it changed.
    pub(crate) fn note_suggestions(&mut self, cx: &mut Context<Self>) {
        let suggestions = self.prediction.read(cx).short(cx);
        // Tab notifies on every key and every answer of a model.
        if suggestions != self.suggestions {
            self.suggestions = suggestions;
            cx.notify();
        }
    }

    /// Copies the state of the folder's language servers, and redraws the bar only if it changed.
    pub(crate) fn note_language(&mut self, cx: &mut Context<Self>) {
        let servers = self
            .folder
            .as_ref()
            .map(|folder| folder.read(cx).language_servers());
        let status = servers.map(|servers| LanguageStatus::of(servers.read(cx)));
        let status = status.unwrap_or_default();
        if status != self.language {
            self.language = status;
            cx.notify();
        }
    }

    /// Copies the state of the repository, and redraws the bar only if it changed.
    pub(crate) fn note_git(&mut self, git: Option<GitSummary>, cx: &mut Context<Self>) {
        // The panel notifies on every request.
        if git != self.git {
            self.git = git;
            cx.notify();
        }
    }

    /// Returns the branch with the number of changed files, or the branch of the folder alone.
    fn branch(&self, cx: &App) -> Option<StatusItem> {
        let (name, ahead, behind, files) = match &self.git {
            Some(git) => (git.branch.clone(), git.ahead, git.behind, git.files),
            None => {
                let branch = self.folder.as_ref()?.read(cx).branch()?;
                (branch.name.clone(), branch.ahead, branch.behind, 0)
            }
        };
        let mut text = name;
        for (count, arrow) in [(ahead, '\u{2191}'), (behind, '\u{2193}')] {
            if count > 0 {
                text = format!("{text} {arrow}{count}");
            }
        }
        match files {
            0 => {}
            1 => text.push_str(" \u{b7} 1 change"),
            count => text = format!("{text} \u{b7} {count} changes"),
        }
        let mut part = match self.git {
            Some(_) => StatusItem::new("branch", text, "Git changes of the folder", ShowChanges),
            None => {
                let help = "Git branch of the folder";
                StatusItem::new("branch", text, help, view::FocusProjectTree)
            }
        };
        part.icon = Some(Icon::GitBranch);
        Some(part)
    }

    /// Copies the properties of the text, and redraws the bar only if they changed.
    fn note_properties(&mut self, model: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        let properties = Some(TextProperties::of(model.read(cx)));
        if properties != self.properties {
            self.properties = properties;
            cx.notify();
        }
    }

    /// Returns the number of agents waiting for the user, or else the number of running agents, and
    /// the number of sessions with news.
    fn agents(&self) -> Option<StatusItem> {
        let AgentCounts {
            waiting,
            working,
            unread,
        } = self.agents;
        let activity = match (waiting, working) {
            (0, 0) => None,
            (0, 1) => Some("1 agent works".to_owned()),
            (0, count) => Some(format!("{count} agents work")),
            (1, _) => Some("1 agent waits for you".to_owned()),
            (count, _) => Some(format!("{count} agents wait for you")),
        };
        let news = match unread {
            0 => None,
            1 => Some("1 unread session".to_owned()),
            count => Some(format!("{count} unread sessions")),
        };
        let texts: Vec<String> = activity.into_iter().chain(news).collect();
        if texts.is_empty() {
            return None;
        }
        let text = texts.join(" \u{b7} ");
        let help = "The agents of this folder";
        let mut part = match unread {
            0 => StatusItem::new("agents", text, help, FocusPanel),
            _ => StatusItem::new("agents", text, help, ShowSessions),
        };
        part.icon = Some(Icon::Bot);
        part.tone = match (waiting, unread) {
            (0, 0) => None,
            (0, _) => Some(Tone::Info),
            _ => Some(Tone::Warning),
        };
        Some(part)
    }

    /// Returns the mode of Vim's keys, with the keys of an unfinished command and the register into
    /// which keys are recorded.
    fn vim(&self, cx: &App) -> Option<StatusItem> {
        let status = vim_status(self.followed.as_ref()?.read(cx))?;
        let mut text = status.mode.to_owned();
        if let Some(register) = status.recording {
            text = format!("{text} \u{b7} recording @{register}");
        }
        if !status.pending.is_empty() {
            text = format!("{text} \u{b7} {}", status.pending);
        }
        let help = "Mode of the keys of Vim; select to switch them off";
        Some(StatusItem::new("vim", text, help, vim::ToggleVimMode))
    }

    fn follow_now(&mut self, editor: Option<Entity<Editor>>, cx: &mut Context<Self>) {
        if editor == self.followed {
            return;
        }
        self._follows = editor
            .iter()
            .flat_map(|editor| {
                let model = editor.read(cx).model().clone();
                [
                    cx.subscribe(editor, |_, _, event: &EditorEvent, cx| {
                        let is_shown = matches!(
                            event,
                            EditorEvent::SelectionsChanged
                                | EditorEvent::Edited
                                | EditorEvent::Vim(VimEvent::StatusChanged)
                        );
                        if is_shown {
                            cx.notify();
                        }
                    }),
                    cx.observe(&model, |this, model, cx| this.note_properties(&model, cx)),
                ]
            })
            .collect();
        self.followed = editor;
        self.note_suggestions(cx);
        cx.notify();
    }

    fn left_items(&self, cx: &App) -> Vec<StatusItem> {
        let mut parts = Vec::new();
        let folder = self.folder.as_ref();
        parts.extend(self.vim(cx));
        parts.extend(self.branch(cx));
        parts.extend(self.language.items());
        let index = folder.and_then(|folder| folder.read(cx).index().cloned());
        if let Some(index) = index {
            let status = index.status();
            let mut part = StatusItem::new(
                "index",
                crate::index_status::short(&status),
                "Status of the folder's index",
                go::ShowIndex,
            );
            part.icon = Some(Icon::Layers);
            if matches!(status.phase, index::IndexPhase::Off(_)) {
                part.tone = Some(Tone::Warning);
            }
            parts.push(part);
        }
        if self.followed.is_some() {
            let (text, is_wrong) = self.suggestions.clone();
            let mut part = StatusItem::new(
                "suggestions",
                text,
                "Status of Tab suggestions",
                suggestions::ShowStatus,
            );
            part.icon = Some(Icon::TextCursor);
            part.tone = is_wrong.then_some(Tone::Warning);
            parts.push(part);
        }
        parts.extend(self.agents());
        let problems = Configuration::of(cx).read(cx).problems().count();
        if problems > 0 {
            let text = match problems {
                1 => "1 problem in settings".to_owned(),
                count => format!("{count} problems in settings"),
            };
            let mut part = StatusItem::new(
                "problems",
                text,
                "Problems in the settings",
                view::ShowNotifications,
            );
            part.icon = Some(Icon::Warning);
            part.tone = Some(Tone::Warning);
            parts.push(part);
        }
        parts
    }

    fn right_items(&self, cx: &mut Context<Self>) -> Vec<StatusItem> {
        if let Some(preview) = &self.preview {
            let items = preview.status(cx).into_iter();
            return items.map(StatusItem::of_preview).collect();
        }
        let Some(editor) = self.followed.clone() else {
            return Vec::new();
        };
        let (place, selected, hard, width) = editor.update(cx, |editor, cx| {
            let point = editor.caret_point(cx);
            let snapshot = editor.model().read(cx).snapshot();
            let before = base::Span::new(snapshot.row_start(point.row), snapshot.offset_at(point));
            let column = snapshot.char_count(before) + 1;
            let selections = editor.selections(cx);
            let bytes: usize = selections
                .iter()
                .map(|selection| selection.span().len())
                .sum();
            let selected = (selections.len(), bytes);
            let (hard, width) = editor.indentation();
            ((point.row.0 + 1, column), selected, hard, width)
        });
        // In a view of several texts, the text with the caret counts.
        let excerpts = editor.read(cx).excerpts().cloned();
        let source = excerpts.and_then(|excerpts| {
            let row = base::Row(place.0 - 1);
            excerpts.read(cx).source_of(row, cx)
        });
        let (model, line) = match source {
            Some((_, source, row)) => (source, row.0 + 1),
            None => (editor.read(cx).model().clone(), place.0),
        };
        let model = model.read(cx);
        let document = model.document();
        let format = document.format();
        let mut caret = format!("{line}:{}", place.1);
        match selected {
            (1, 0) => {}
            (1, bytes) => caret = format!("{caret} ({bytes} selected)"),
            (count, 0) => caret = format!("{caret} ({count} carets)"),
            (count, bytes) => caret = format!("{caret} ({count} carets, {bytes} selected)"),
        }
        let encoding = if format.bom {
            format!("{} with BOM", format.encoding.name())
        } else {
            format.encoding.name().to_owned()
        };
        let ending = match (document.buffer().line_ending(), format.line_endings) {
            (_, LineEndings::Mixed) => "Mixed",
            (LineEnding::Lf, _) => "LF",
            (LineEnding::CrLf, _) => "CRLF",
        };
        let language = model
            .language()
            .map_or("Plain Text", |language| language.name());
        vec![
            StatusItem::new("caret", caret, "Go to a line", go::ToLine),
            StatusItem::new(
                "indentation",
                indentation_name(hard, width),
                "Choose the indentation",
                file::SelectIndentation,
            ),
            StatusItem::new(
                "encoding",
                encoding,
                "Reopen with another encoding",
                file::ReopenWithEncoding,
            ),
            StatusItem::new(
                "line-ending",
                ending,
                "Choose the line ending",
                file::SelectLineEnding,
            ),
            StatusItem::new(
                "language",
                language,
                "Choose the language",
                file::SelectLanguage,
            ),
        ]
    }
}

fn render_part(part: StatusItem, cx: &App) -> impl IntoElement + use<> {
    let colors = cx.theme().colors;
    let color = part.tone.map_or(colors.muted, |tone| tone.color(cx));
    let action = part.action.boxed_clone();
    div()
        .id(part.id)
        .role(Role::Button)
        .test_support()
        .aria_label(one_line(format!("{}: {}", part.help, part.text)))
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(4.0))
        .h_full()
        .px(dp(6.0))
        .max_w(dp(260.0))
        .rounded(px(3.0))
        .cursor_pointer()
        .hover(|style| style.bg(colors.hover))
        .on_click(move |_, window, cx| window.dispatch_action(action.boxed_clone(), cx))
        .tooltip(Tooltip::for_action(part.help, part.action.as_ref()))
        .children(
            part.icon
                .map(|icon| icon.size(IconSize::Small).color(color)),
        )
        .child(Label::new(part.text).small().color(color))
}

impl Render for StatusStrip {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let left = self.left_items(cx);
        let mut right = self.right_items(cx);
        // The least important items are hidden first.
        let width = f32::from(window.viewport_size().width);
        for (below, id) in [
            (560.0, "encoding"),
            (560.0, "indentation"),
            (460.0, "line-ending"),
        ] {
            if width < below {
                right.retain(|part| part.id != id);
            }
        }
        let pending =
            pending_keys(window, cx).map(|keys| Label::new(format!("{keys} \u{2026}")).small());
        let settings = StatusItem {
            icon: Some(Icon::Settings),
            ..StatusItem::new("settings", "", "Settings", app::OpenSettings)
        };
        div()
            .id("status-bar")
            .role(Role::Status)
            .test_support()
            .aria_label("Status")
            .flex()
            .items_center()
            .size_full()
            .px(dp(6.0))
            .gap(dp(2.0))
            .bg(colors.sunken)
            .border_t_1()
            .border_color(colors.border)
            .children(left.into_iter().map(|part| render_part(part, cx)))
            .child(div().flex_1().min_w_0().px(dp(8.0)).children(pending))
            .children(right.into_iter().map(|part| render_part(part, cx)))
            .child(render_part(settings, cx))
    }
}

/// Returns the typed keys of an incomplete chord.
fn pending_keys(window: &Window, cx: &App) -> Option<String> {
    let strokes = window.pending_input_keystrokes()?;
    let text: Vec<String> = strokes
        .iter()
        .map(|stroke| ui::keystroke_text(stroke, cx.platform()))
        .collect();
    (!text.is_empty()).then(|| text.join(" "))
}
