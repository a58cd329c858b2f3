//! What a folder has to say about agents' work in it: shown before a session begins, with the person's consent to
//! give.

use base::{AbsPath, LineFeeds, printable};
use gpui_kit::{
    AnyElement, Context, IntoElement as _, ParentElement as _, Role, SharedString,
    StatefulInteractiveElement as _, Styled as _, Window, div,
};
use ui::{ActiveTheme as _, Banner, Button, ButtonStyle, Icon, Tone, dp};

use super::card::card;
use super::{ComposerPanel, PanelEvent, Shows};
use crate::actions::{AllowHooks, DistrustFolder, TrustFolder};
use crate::agents::{Consent, HouseRules, WaitingHooks, WaitingServer};

/// What is known of the folder, and what the person does not want to be asked again.
#[derive(Debug, Default)]
pub(super) struct House {
    rules: HouseRules,
    /// The person does not decide now, in this window, about trust.
    puts_off_trust: bool,
    /// The same about hooks.
    puts_off_hooks: bool,
    /// Servers about which they do not decide now, by their marks.
    puts_off_servers: Vec<String>,
}

impl ComposerPanel {
    /// Asks what the folder has to say. Until it is known, nothing is shown.
    pub(super) fn load_house(&mut self, cx: &mut Context<Self>) {
        self.house = House::default();
        self.look_at_house(cx);
    }

    fn look_at_house(&mut self, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._house = Some(cx.spawn(async move |this, cx| {
            let house = agents.house(root).await;
            // The window may be gone by then.
            this.update(cx, |this, cx| match house {
                Ok(rules) => {
                    this.house.rules = rules;
                    cx.notify();
                }
                Err(sentence) => this.trouble = Some(sentence),
            })
            .ok();
        }));
    }

    fn took_house(&mut self, house: Result<HouseRules, String>, cx: &mut Context<Self>) {
        match house {
            Ok(rules) => self.house.rules = rules,
            Err(sentence) => {
                self.trouble = Some(sentence);
                // What could not be done was perhaps about something that changed.
                self.look_at_house(cx);
            }
        }
        cx.notify();
    }

    fn consent(&mut self, consent: Consent, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._house = Some(cx.spawn(async move |this, cx| {
            let house = agents.consent(root, consent).await;
            // The window may be gone by then.
            this.update(cx, |this, cx| this.took_house(house, cx)).ok();
        }));
    }

    /// Lets the folder's instructions join prompts.
    pub fn trust_folder(&mut self, _: &TrustFolder, _: &mut Window, cx: &mut Context<Self>) {
        self.consent(Consent::Trust, cx);
    }

    /// Keeps the folder's instructions out of prompts.
    pub fn distrust_folder(&mut self, _: &DistrustFolder, _: &mut Window, cx: &mut Context<Self>) {
        self.consent(Consent::Distrust, cx);
    }

    /// Lets the folder's hooks run, as they are now.
    pub fn allow_hooks(&mut self, _: &AllowHooks, _: &mut Window, cx: &mut Context<Self>) {
        let shown = self.house.rules.hooks.clone();
        if self.whole(&commands_of(&shown)).hidden() == 0 {
            self.consent(Consent::Hooks(shown), cx);
        }
    }

    /// What waits for the person before a session begins.
    pub(super) fn render_house(&self, cx: &mut Context<Self>) -> Vec<AnyElement> {
        let rules = &self.house.rules;
        let problems = rules.problems.iter().enumerate().map(|(ix, problem)| {
            Banner::new(("agent-permissions", ix), Tone::Error, problem.clone()).into_any_element()
        });
        if self.open.is_some() || self.shows == Shows::Board {
            return problems.collect();
        }
        let waits_for_trust = !rules.is_trusted && !rules.guides.is_empty();
        let trust = (waits_for_trust && !self.house.puts_off_trust).then(|| self.render_trust(cx));
        let hooks = (!self.house.puts_off_hooks)
            .then(|| self.render_hooks(&rules.hooks, cx))
            .flatten();
        let puts_off = &self.house.puts_off_servers;
        let server = rules.servers.iter().find(|it| !puts_off.contains(&it.mark));
        let server = server.map(|server| self.render_server(server, cx));
        let waiting = trust.into_iter().chain(hooks).chain(server);
        problems.chain(waiting).collect()
    }

    /// The texts that the person consents to.
    pub(super) fn house_texts(&self) -> impl Iterator<Item = String> {
        let rules = &self.house.rules;
        let hooks = commands_of(&rules.hooks);
        let servers = rules.servers.iter().map(|it| it.written.clone());
        std::iter::once(hooks).chain(servers)
    }

    /// A server of the project: one at a time, and all that it says.
    fn render_server(&self, server: &WaitingServer, cx: &Context<Self>) -> AnyElement {
        let text = format!(
            "The MCP server \u{201c}{}\u{201d} of {} would run with your rights. It waits for you:",
            server.name,
            self.shown_path(&server.path)
        );
        let (allowed, refused, later) = (server.clone(), server.clone(), server.mark.clone());
        let obstacle = self.whole(&server.written).obstacle();
        let buttons = [
            Button::new("agent-server", "Let it run")
                .style(ButtonStyle::Plain)
                .disabled(obstacle.map(SharedString::from))
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.consent(Consent::Server(allowed.clone()), cx);
                })),
            Button::new("agent-server-never", "Never")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.consent(Consent::NoServer(refused.clone()), cx);
                })),
            Button::new("agent-server-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |this, _, _, cx| {
                    this.house.puts_off_servers.push(later.clone());
                    cx.notify();
                })),
        ];
        let below = self.render_whole("agent-server-text", &server.written, cx);
        consent_card("agent-house-server", text, Some(below), buttons, cx)
    }

    fn shown_path(&self, path: &AbsPath) -> String {
        let root = self.root.as_ref();
        let inner = root.and_then(|root| path.relative_to(root));
        inner.map_or_else(|| path.to_string(), |inner| inner.display().to_string())
    }

    fn render_trust(&self, cx: &Context<Self>) -> AnyElement {
        let names = self.house.rules.guides.join(", ");
        let text = format!(
            "This folder has a say in what agents do: {names}. They read it once you trust the folder."
        );
        let buttons = [
            Button::new("agent-trust", "Trust this folder")
                .style(ButtonStyle::Plain)
                .action(Box::new(TrustFolder)),
            Button::new("agent-trust-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(|this, _, _, cx| {
                    this.house.puts_off_trust = true;
                    cx.notify();
                })),
        ];
        consent_card("agent-house-trust", text, None, buttons, cx)
    }

    fn render_hooks(&self, waiting: &[WaitingHooks], cx: &Context<Self>) -> Option<AnyElement> {
        let first = waiting.first()?;
        let names: Vec<_> = waiting
            .iter()
            .map(|file| self.shown_path(&file.path))
            .collect();
        let text = format!(
            "The hooks in {} run commands by themselves while agents work. They wait for you:",
            names.join(" and ")
        );
        let path = first.path.clone();
        let commands = commands_of(waiting);
        let obstacle = self.whole(&commands).obstacle();
        let buttons = [
            Button::new("agent-hooks", "Let them run")
                .style(ButtonStyle::Plain)
                .disabled(obstacle.map(SharedString::from))
                .action(Box::new(AllowHooks)),
            Button::new("agent-hooks-file", "Show the file")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(move |_, _, _, cx| {
                    cx.emit(PanelEvent::OpenFile(path.clone(), None));
                })),
            Button::new("agent-hooks-later", "Not now")
                .style(ButtonStyle::Ghost)
                .on_click(cx.listener(|this, _, _, cx| {
                    this.house.puts_off_hooks = true;
                    cx.notify();
                })),
        ];
        let commands = self.render_whole("agent-hooks-text", &commands, cx);
        Some(consent_card(
            "agent-house-hooks",
            text,
            Some(commands),
            buttons,
            cx,
        ))
    }
}

/// The commands of all hooks, one behind the other.
fn commands_of(waiting: &[WaitingHooks]) -> String {
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
