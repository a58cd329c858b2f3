//! Cards for folder trust: asks the user for consent to the folder's instructions, hooks and MCP
//! servers before a session begins.

use base::{AbsPath, LineFeeds, printable};
use gpui_kit::{
    AnyElement, Context, IntoElement as _, ParentElement as _, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, Banner, Button, ButtonStyle, Icon, Tone, dp};

use super::card::card;
use super::{ComposerPanel, PanelEvent, PanelPage};
use crate::actions::{AllowHooks, DistrustFolder, TrustFolder};
use crate::agents::{Consent, Error, FolderTrust, PendingHooks, PendingMcpServer};

/// The trust status of the folder, and the prompts that the user postponed.
#[derive(Debug, Default)]
pub(super) struct TrustPrompts {
    rules: FolderTrust,
    /// The user postponed the decision about trust, in this window.
    trust_postponed: bool,
    /// The user postponed the decision about hooks.
    hooks_postponed: bool,
    /// Marks of the servers whose decision was postponed.
    postponed_servers: Vec<String>,
}

impl ComposerPanel {
    /// Loads the trust status of the folder in the background and forgets postponed decisions.
    /// Until the status is loaded, no trust card is shown.
    pub(super) fn load_trust(&mut self, cx: &mut Context<Self>) {
        self.trust = TrustPrompts::default();
        self.query_trust(cx);
    }

    /// Reads the trust status of the folder again, after it was changed elsewhere.
    pub fn refresh_trust(&mut self, cx: &mut Context<Self>) {
        if self.is_awake {
            self.query_trust(cx);
        }
    }

    fn query_trust(&mut self, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._trust = Some(cx.spawn(async move |this, cx| {
            let trust = agents.folder_trust(root).await;
            // The window may be gone by then.
            this.update(cx, |this, cx| match trust {
                Ok(rules) => {
                    this.trust.rules = rules;
                    cx.notify();
                }
                Err(error) => this.error = Some(error.to_string()),
            })
            .ok();
        }));
    }

    fn apply_trust(&mut self, trust: Result<FolderTrust, Error>, cx: &mut Context<Self>) {
        match trust {
            Ok(rules) => self.trust.rules = rules,
            Err(error) => {
                self.error = Some(error.to_string());
                // The consent may have failed because the files changed meanwhile.
                self.query_trust(cx);
            }
        }
        cx.notify();
    }

    fn consent(&mut self, consent: Consent, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        let is_about_trust = matches!(consent, Consent::Trust | Consent::Distrust);
        self._trust = Some(cx.spawn(async move |this, cx| {
            let trust = agents.consent(root, consent).await;
            let applied = this.update(cx, |this, cx| {
                if is_about_trust && trust.is_ok() {
                    cx.emit(PanelEvent::TrustChanged);
                }
                this.apply_trust(trust, cx);
            });
            // The window may be gone by then.
            applied.ok();
        }));
    }

    /// Trusts the folder: its instructions join prompts.
    pub fn trust_folder(&mut self, _: &TrustFolder, _: &mut Window, cx: &mut Context<Self>) {
        self.consent(Consent::Trust, cx);
    }

    /// Revokes trust: the folder's instructions stay out of prompts.
    pub fn distrust_folder(&mut self, _: &DistrustFolder, _: &mut Window, cx: &mut Context<Self>) {
        self.consent(Consent::Distrust, cx);
    }

    /// Allows the folder's hooks to run in their present form. Does nothing while part of their
    /// text is hidden.
    pub fn allow_hooks(&mut self, _: &AllowHooks, _: &mut Window, cx: &mut Context<Self>) {
        let shown = self.trust.rules.hooks.clone();
        if self.revealed(&commands_of(&shown)).hidden() == 0 {
            self.consent(Consent::Hooks(shown), cx);
        }
    }

    /// Renders the cards that wait for the user's consent.
    pub(super) fn render_trust_cards(&self, cx: &mut Context<Self>) -> Vec<AnyElement> {
        let rules = &self.trust.rules;
        let problems = rules.problems.iter().enumerate().map(|(ix, problem)| {
            Banner::new(("agent-permissions", ix), Tone::Error, problem.clone()).into_any_element()
        });
        if self.open.is_some() || self.page == PanelPage::Board {
            return problems.collect();
        }
        let waits_for_trust = !rules.is_trusted && !rules.guides.is_empty();
        let trust = (waits_for_trust && !self.trust.trust_postponed).then(|| self.render_trust(cx));
        let hooks = (!self.trust.hooks_postponed)
            .then(|| self.render_hooks(&rules.hooks, cx))
            .flatten();
        let puts_off = &self.trust.postponed_servers;
        let server = rules.servers.iter().find(|it| !puts_off.contains(&it.mark));
        let server = server.map(|server| self.render_server(server, cx));
        let waiting = trust.into_iter().chain(hooks).chain(server);
        problems.chain(waiting).collect()
    }

    /// The texts that the user consents to.
    pub(super) fn trust_texts(&self) -> impl Iterator<Item = String> {
        let rules = &self.trust.rules;
        let hooks = commands_of(&rules.hooks);
        let servers = rules.servers.iter().map(|it| it.written.clone());
        std::iter::once(hooks).chain(servers)
    }

    /// Renders the card of an MCP server of the project; one at a time, with its whole
    /// configuration.
    fn render_server(&self, server: &PendingMcpServer, cx: &Context<Self>) -> AnyElement {
        let text = format!(
            "The MCP server \u{201c}{}\u{201d} from {} would run with your permissions. Review its \
             configuration:",
            server.name,
            self.shown_path(&server.path)
        );
        let (allowed, refused, later) = (server.clone(), server.clone(), server.mark.clone());
        let obstacle = self.revealed(&server.written).approval_obstacle();
        let buttons = [
            Button::new("agent-server", "Allow server")
                .style(ButtonStyle::Plain)
                .disabled(obstacle.map(SharedString::from))
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.consent(Consent::Server(allowed.clone()), cx);
                })),
            Button::new("agent-server-never", "Never")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.consent(Consent::DenyServer(refused.clone()), cx);
                })),
            Button::new("agent-server-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.trust.postponed_servers.push(later.clone());
                    cx.notify();
                })),
        ];
        let below = self.render_revealed("agent-server-text", &server.written, cx);
        consent_card("agent-house-server", text, Some(below), buttons, cx)
    }

    fn shown_path(&self, path: &AbsPath) -> String {
        let root = self.root.as_ref();
        let inner = root.and_then(|root| path.relative_to(root));
        inner.map_or_else(|| path.to_string(), |inner| inner.display().to_string())
    }

    fn render_trust(&self, cx: &Context<Self>) -> AnyElement {
        let names = self.trust.rules.guides.join(", ");
        let text = format!(
            "This folder contains instructions for agents: {names}. Agents read them once you \
             trust the folder."
        );
        let buttons = [
            Button::new("agent-trust", "Trust this folder")
                .style(ButtonStyle::Plain)
                .action(Box::new(TrustFolder)),
            Button::new("agent-trust-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(|this, _, _, cx| {
                    this.trust.trust_postponed = true;
                    cx.notify();
                })),
        ];
        consent_card("agent-house-trust", text, None, buttons, cx)
    }

    /// Renders the card that asks for consent to the commands of these hook files. Returns `None`
    /// if `waiting` is empty.
    fn render_hooks(&self, waiting: &[PendingHooks], cx: &Context<Self>) -> Option<AnyElement> {
        let first = waiting.first()?;
        let names: Vec<_> = waiting
            .iter()
            .map(|file| self.shown_path(&file.path))
            .collect();
        let text = format!(
            "The hooks in {} run commands automatically while agents work. Review the commands:",
            names.join(" and ")
        );
        let path = first.path.clone();
        let commands = commands_of(waiting);
        let obstacle = self.revealed(&commands).approval_obstacle();
        let buttons = [
            Button::new("agent-hooks", "Allow hooks")
                .style(ButtonStyle::Plain)
                .disabled(obstacle.map(SharedString::from))
                .action(Box::new(AllowHooks)),
            Button::new("agent-hooks-file", "Open file")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |_, _, _, cx| {
                    cx.emit(PanelEvent::OpenFile(path.clone(), None));
                })),
            Button::new("agent-hooks-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(|this, _, _, cx| {
                    this.trust.hooks_postponed = true;
                    cx.notify();
                })),
        ];
        let commands = self.render_revealed("agent-hooks-text", &commands, cx);
        Some(consent_card(
            "agent-house-hooks",
            text,
            Some(commands),
            buttons,
            cx,
        ))
    }
}

/// The commands of all hooks, one per line.
fn commands_of(waiting: &[PendingHooks]) -> String {
    let all = waiting.iter().flat_map(|file| &file.commands);
    all.map(String::as_str).collect::<Vec<_>>().join("\n")
}

fn consent_card(
    id: &'static str,
    text: String,
    below: Option<AnyElement>,
    buttons: impl IntoIterator<Item = Button>,
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let text = printable(&text, LineFeeds::Keep).into_owned();
    let sentence = div()
        .flex()
        .gap(dp(8.0))
        .child(
            div()
                .flex_none()
                .pt(dp(2.0))
                .child(Icon::Info.color(colors.accent)),
        )
        .child(div().flex_1().min_w_0().child(text.clone()));
    card(id, Role::Status, colors.border_strong, colors.surface)
        .aria_label(text)
        .child(sentence)
        .children(below)
        .child(div().flex().flex_wrap().gap(dp(8.0)).children(buttons))
        .into_any_element()
}
