//! The list at the prompt's caret: names after `@` and commands after `/`.
//!
//! Invariant: the list shows the answer to the word at the caret; an answer to an earlier word is
//! dropped.
//! Start at `ComposerPanel::update_completion`.

use agent::prompt_sources::PromptSource;
use gpui_kit::{
    AnyElement, App, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    ScrollHandle, StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _, Window,
    deferred, div, px, relative,
};
use guide::GuidePage;
use ui::{ActiveTheme as _, Icon, Label, ListRow, dp};

use super::{ComposerPanel, PanelEvent};
use crate::actions::{
    AcceptCompletion, ChooseEffort, ChooseModel, CompactSession, NewSession, NextMode, ShowBoard,
    ShowContext, ShowSessions, ShowSpending, Stop,
};
use crate::agents::{NamedContext, ServerContent, SessionEntry};
use crate::completion::{
    CompletionKind, CompletionRow, CompletionSign, CompletionWord, FindMentions, PromptCommand,
    written_mention,
};
use crate::mention_chips::chip;
use crate::source_rows::{server_prompt_rows, source_rows};

/// Maximum number of rows.
const MAX_ROWS: usize = 50;

/// The state of the list.
#[derive(Default)]
pub(super) struct PromptCompletion {
    find: Option<FindMentions>,
    /// The rules and skills of the folder.
    named: Vec<NamedContext>,
    /// The resources and prompts of the folder's MCP servers.
    contents: Vec<ServerContent>,
    /// The sessions of the folder.
    sessions: Vec<SessionEntry>,
    open: Option<OpenList>,
    /// Start of the word whose list the user closed.
    closed: Option<usize>,
    search: Option<Task<()>>,
    load: Option<Task<()>>,
    load_contents: Option<Task<()>>,
    /// Start of the word for which the rows were read last.
    loaded_for: Option<usize>,
    scroll: ScrollHandle,
}

struct OpenList {
    word: CompletionWord,
    rows: Vec<CompletionRow>,
    selected: usize,
}

impl ComposerPanel {
    /// Sets the source of names after `@`.
    pub fn set_mentions(&mut self, find: FindMentions) {
        self.completion.find = Some(find);
    }

    /// Returns whether the list is shown.
    pub(super) fn is_completing(&self) -> bool {
        self.completion.open.is_some()
    }

    /// Searches for the word at the caret, or closes the list if there is none.
    pub(super) fn update_completion(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let state = self.prompt.read(cx);
        let (text, selection) = (state.value(), state.selected_range());
        let is_token = |at: usize| state.tokens().iter().any(|it| it.range().contains(&at));
        let word = CompletionWord::at(&text, selection.end)
            .filter(|word| selection.is_empty() && !is_token(word.at.start));
        let Some(word) = word else {
            self.completion.closed = None;
            self.completion.loaded_for = None;
            self.close_completion(cx);
            return;
        };
        if self.completion.closed == Some(word.at.start) {
            return;
        }
        // Once for each word: a slow server would get another request with each key.
        if self.completion.loaded_for.replace(word.at.start) != Some(word.at.start) {
            self.load_named_context(window, cx);
        }
        let mut last = Vec::new();
        let fixed = match word.sign {
            CompletionSign::Mention => {
                let shown = self.open.as_ref().map(|open| open.live.id.as_str());
                let PromptCompletion {
                    sessions, contents, ..
                } = &self.completion;
                last = matching(&word.query, source_rows(sessions, shown, contents));
                mention_rows(&word.query, &self.completion.named)
            }
            CompletionSign::Command => {
                let mut rows = command_rows(&word.query, &self.completion.named);
                let offered = self.agent_commands().iter();
                let offered =
                    offered.map(|it| fixed_row(&it.name, &it.about, CompletionKind::AgentCommand));
                rows.splice(0..0, matching(&word.query, offered));
                let prompts = server_prompt_rows(&self.completion.contents);
                rows.extend(matching(&word.query, prompts));
                rows
            }
        };
        let find = self.completion.find.clone();
        let find = find.filter(|_| word.sign == CompletionSign::Mention);
        let found = find.map(|find| find(&word.query, cx));
        self.completion.search = Some(cx.spawn_in(window, async move |this, cx| {
            let mut rows = fixed;
            if let Some(found) = found {
                rows.extend(found.await);
            }
            rows.extend(last);
            rows.truncate(MAX_ROWS);
            // The window may be gone by then.
            this.update(cx, |this, cx| this.show_completion(word, rows, cx))
                .ok();
        }));
    }

    fn show_completion(
        &mut self,
        word: CompletionWord,
        rows: Vec<CompletionRow>,
        cx: &mut Context<Self>,
    ) {
        self.completion.scroll.scroll_to_item(0);
        self.completion.open = (!rows.is_empty()).then_some(OpenList {
            word,
            rows,
            selected: 0,
        });
        cx.notify();
    }

    /// Reads what the list offers besides files, and shows it once it is there.
    fn load_named_context(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let (reading, folder) = (agents.clone(), root.clone());
        self.completion.load = Some(cx.spawn_in(window, async move |this, cx| {
            let named = reading.named_context(folder.clone());
            let (named, sessions) = futures::join!(named, reading.sessions(folder));
            // The panel may be gone by then.
            this.update_in(cx, |this, window, cx| {
                let sessions = sessions.unwrap_or_default();
                let old = (&this.completion.named, &this.completion.sessions);
                let is_new = old != (&named, &sessions);
                (this.completion.named, this.completion.sessions) = (named, sessions);
                this.renew_completion(is_new, window, cx);
            })
            .ok();
        }));
        // The demo model works in a folder of its own. A server may take long to answer.
        let open = self.addressed_session();
        let root = open.map_or(root, |open| open.live.root.clone());
        self.completion.load_contents = Some(cx.spawn_in(window, async move |this, cx| {
            let contents = agents.server_contents(root).await;
            // The panel may be gone by then.
            this.update_in(cx, |this, window, cx| {
                let is_new = this.completion.contents != contents;
                this.completion.contents = contents;
                this.renew_completion(is_new, window, cx);
            })
            .ok();
        }));
    }

    /// Searches again if there is something new and the user has not chosen a row yet.
    fn renew_completion(&mut self, is_new: bool, window: &mut Window, cx: &mut Context<Self>) {
        let open = self.completion.open.as_ref();
        if is_new && open.is_none_or(|open| open.selected == 0) {
            self.update_completion(window, cx);
        }
    }

    /// Closes the list. Returns whether it was shown.
    pub(super) fn close_completion(&mut self, cx: &mut Context<Self>) -> bool {
        self.completion.search = None;
        let was_open = self.completion.open.take().is_some();
        if was_open {
            cx.notify();
        }
        was_open
    }

    /// Closes the list until another word begins. Returns whether it was shown.
    pub(super) fn dismiss_completion(&mut self, cx: &mut Context<Self>) -> bool {
        let open = self.completion.open.as_ref();
        self.completion.closed = open.map(|open| open.word.at.start);
        self.close_completion(cx)
    }

    /// Selects another row. Returns whether the list is shown.
    pub(super) fn select_completion(&mut self, step: isize, cx: &mut Context<Self>) -> bool {
        let Some(open) = &mut self.completion.open else {
            return false;
        };
        let count = open.rows.len() as isize;
        open.selected = (open.selected as isize + step).rem_euclid(count) as usize;
        self.completion.scroll.scroll_to_item(open.selected);
        cx.notify();
        true
    }

    pub(super) fn accept_action(
        &mut self,
        _: &AcceptCompletion,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.accept_completion(window, cx) {
            cx.propagate();
        }
    }

    /// Accepts the selected suggestion; without a list, sends the prompt.
    pub(super) fn enter(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !self.accept_completion(window, cx) {
            self.send(window, cx);
        }
    }

    /// Puts the selected name into the prompt, or runs the selected command. Returns whether the
    /// list was shown.
    pub(super) fn accept_completion(
        &mut self,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let Some(open) = self.completion.open.take() else {
            return false;
        };
        self.completion.search = None;
        if let Some(row) = open.rows.into_iter().nth(open.selected) {
            match row.kind {
                CompletionKind::Command(command) => self.run_prompt_command(command, window, cx),
                CompletionKind::AgentCommand => {
                    let text = format!("/{} ", row.written);
                    self.prompt.update(cx, |state, cx| {
                        state.set_selected_range(open.word.at.clone(), cx);
                        state.replace(text, window, cx);
                    });
                    self.draft_changed(cx);
                }
                CompletionKind::ServerPrompt => {
                    self.insert_server_prompt(&open.word, &row.written, window, cx);
                }
                CompletionKind::ResourceTemplate => {
                    self.insert_template(&open.word, &row.written, window, cx);
                }
                CompletionKind::Terminal => {
                    self.insert_mention(&open.word, &row.written, window, cx);
                    if let Some(PromptSource::Terminal { id }) = PromptSource::named(&row.written) {
                        cx.emit(PanelEvent::TerminalMentioned(id));
                    }
                }
                _ => self.insert_mention(&open.word, &row.written, window, cx),
            }
        }
        cx.notify();
        true
    }

    fn insert_mention(
        &mut self,
        word: &CompletionWord,
        name: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = written_mention(name);
        self.prompt.update(cx, |state, cx| {
            let put = state.replace_range_with_token(word.at.clone(), chip(&text), window, cx);
            if let Err(error) = put {
                log::warn!("a mention is not shown as a chip: {error}");
                state.set_selected_range(word.at.clone(), cx);
                state.replace(text, window, cx);
            }
            state.insert(" ", window, cx);
        });
        self.draft_changed(cx);
    }

    /// Puts the prompt of a server into the box, with the caret at its first argument.
    fn insert_server_prompt(
        &mut self,
        word: &CompletionWord,
        text: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.prompt.update(cx, |state, cx| {
            state.set_selected_range(word.at.clone(), cx);
            state.replace(text.to_owned(), window, cx);
            if let Some(equals) = text.find('=') {
                let caret = word.at.start + equals + 1;
                state.set_selected_range(caret..caret, cx);
            }
        });
        self.draft_changed(cx);
    }

    /// Puts an address with variables into the box and selects the first variable, to be typed over.
    fn insert_template(
        &mut self,
        word: &CompletionWord,
        name: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let text = format!("@{name}");
        self.prompt.update(cx, |state, cx| {
            state.set_selected_range(word.at.clone(), cx);
            state.replace(text.clone(), window, cx);
            let start = text.find('{').unwrap_or(text.len());
            let end = text[start..]
                .find('}')
                .map_or(text.len(), |end| start + end + 1);
            let from = word.at.start;
            state.set_selected_range(from + start..from + end, cx);
        });
        self.draft_changed(cx);
    }

    /// Mentions a name at the caret, in place of the selection.
    pub(super) fn mention_at_caret(
        &mut self,
        name: &str,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let at = self.prompt.read(cx).selected_range();
        let word = CompletionWord {
            sign: CompletionSign::Mention,
            at,
            query: String::new(),
        };
        self.insert_mention(&word, name, window, cx);
    }

    fn run_prompt_command(
        &mut self,
        command: PromptCommand,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.clear_prompt(window, cx);
        match command {
            PromptCommand::New => self.new_session(&NewSession, window, cx),
            PromptCommand::Compact => self.compact_session(&CompactSession, window, cx),
            PromptCommand::Context => self.show_context(&ShowContext, window, cx),
            PromptCommand::Model => self.choose_model(&ChooseModel, window, cx),
            PromptCommand::Effort => self.choose_effort(&ChooseEffort, window, cx),
            PromptCommand::Mode => self.next_mode(&NextMode, window, cx),
            PromptCommand::Sessions => self.show_sessions(&ShowSessions, window, cx),
            PromptCommand::Board => self.show_board(&ShowBoard, window, cx),
            PromptCommand::Spending => self.show_spending(&ShowSpending, window, cx),
            PromptCommand::Stop => self.stop(&Stop, window, cx),
        }
    }

    /// Renders the list above the prompt box. Returns `None` if it is closed.
    pub(super) fn render_completion(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        let open = self.completion.open.as_ref()?;
        let colors = cx.theme().colors;
        let rows = open.rows.iter().enumerate().map(|(at, row)| {
            ListRow::new(("completion", at), format!("{}, {}", row.name, row.detail))
                .selected(at == open.selected)
                .on_click(cx.listener(move |this, _, window, cx| {
                    if let Some(open) = &mut this.completion.open {
                        open.selected = at;
                    }
                    this.accept_completion(window, cx);
                }))
                .child(icon(row, cx))
                .child(Label::new(row.name.clone()).matches(row.matches.iter().copied()))
                .child(
                    div()
                        .min_w_0()
                        .flex_1()
                        .child(Label::new(row.detail.clone()).small().muted()),
                )
        });
        let list = div()
            .id("agent-completions")
            .role(Role::ListBox)
            .aria_label("Suggestions for the prompt")
            .test_support()
            .absolute()
            .left_0()
            .right_0()
            .bottom(relative(1.0))
            .mb(dp(4.0))
            .max_h(dp(240.0))
            .overflow_y_scroll()
            .track_scroll(&self.completion.scroll)
            .occlude()
            .p(dp(4.0))
            .rounded(px(6.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.surface)
            .children(rows);
        Some(deferred(list).into_any_element())
    }
}

fn icon(row: &CompletionRow, cx: &App) -> AnyElement {
    let icon = match row.kind {
        CompletionKind::File => return ui::file_icon(&row.name, cx).into_any_element(),
        CompletionKind::Folder => Icon::Folder,
        CompletionKind::Symbol => Icon::SymbolFunction,
        CompletionKind::Changes => Icon::FileDiff,
        CompletionKind::Codebase => Icon::Search,
        CompletionKind::Rule => Icon::Book,
        CompletionKind::Skill => Icon::Lightbulb,
        CompletionKind::Problems => Icon::Warning,
        CompletionKind::Terminal => Icon::Terminal,
        CompletionKind::Session => Icon::Message,
        CompletionKind::Guide => Icon::Book,
        CompletionKind::Resource | CompletionKind::ResourceTemplate => Icon::Database,
        CompletionKind::ServerPrompt => Icon::Command,
        CompletionKind::Command(_) | CompletionKind::AgentCommand => Icon::Command,
    };
    icon.color(cx.theme().colors.muted).into_any_element()
}

/// Returns the rows that need no search: changes, the codebase, the guide, rules and skills.
fn mention_rows(query: &str, named: &[NamedContext]) -> Vec<CompletionRow> {
    let own = [
        ("changes", "Uncommitted changes", CompletionKind::Changes),
        (
            "codebase",
            "Search the code for this prompt",
            CompletionKind::Codebase,
        ),
        (
            "problems",
            "Problems that language servers report",
            CompletionKind::Problems,
        ),
        ("docs", "Burin's guide", CompletionKind::Guide),
    ];
    let own = own.map(|(name, detail, kind)| fixed_row(name, detail, kind));
    let named = named.iter().map(|it| {
        let kind = if it.is_skill {
            CompletionKind::Skill
        } else {
            CompletionKind::Rule
        };
        fixed_row(&it.name, &it.about, kind)
    });
    let own = own.into_iter().chain(guide_rows(query));
    matching(query, own.chain(named))
}

/// Returns the rows of the pages of the guide, once the query names the guide.
fn guide_rows(query: &str) -> impl Iterator<Item = CompletionRow> {
    let is_asked = query.starts_with("docs:");
    let pages = GuidePage::all().iter().filter(move |_| is_asked);
    pages.map(|page| {
        let name = format!("docs:{}", page.name);
        fixed_row(&name, page.title(), CompletionKind::Guide)
    })
}

/// Returns the commands of the panel, and the skills.
fn command_rows(query: &str, named: &[NamedContext]) -> Vec<CompletionRow> {
    let own = PromptCommand::ALL
        .iter()
        .map(|(command, name, detail)| fixed_row(name, detail, CompletionKind::Command(*command)));
    let skills = named.iter().filter(|it| it.is_skill);
    let skills = skills.map(|it| fixed_row(&it.name, &it.about, CompletionKind::Skill));
    matching(query, own.chain(skills))
}

fn fixed_row(name: &str, detail: &str, kind: CompletionKind) -> CompletionRow {
    CompletionRow {
        name: name.to_owned(),
        detail: detail.to_owned(),
        matches: Vec::new(),
        kind,
        written: name.to_owned(),
    }
}

/// Returns the rows whose name begins with the query, then those that contain it or whose written
/// form begins with it.
fn matching(query: &str, rows: impl Iterator<Item = CompletionRow>) -> Vec<CompletionRow> {
    let query = query.to_lowercase();
    let found = rows.filter_map(|mut row| {
        let Some(at) = row.name.to_lowercase().find(&query) else {
            let written = row.written.trim_start_matches('/').to_lowercase();
            return written.starts_with(&query).then_some((true, row));
        };
        row.matches = (at..(at + query.len()).min(row.name.len())).collect();
        Some((at > 0, row))
    });
    let mut found: Vec<(bool, CompletionRow)> = found.collect();
    found.sort_by_key(|(is_inner, _)| *is_inner);
    found.into_iter().map(|(_, row)| row).collect()
}
