//! What a folder has to say about agents' work in it: shown before a session begins, with the person's consent to
//! give.

use gpui_kit::{
    AnyElement, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, Window, div, px,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, Label, dp};

use super::{ComposerPanel, PanelEvent};
use crate::actions::{AllowHooks, DistrustFolder, TrustFolder};
use crate::agents::{Consent, HouseRules, WaitingHooks};

/// How many commands of hooks are shown; whoever wants to see more opens the file.
const SHOWN: usize = 3;

/// What is known of the folder, and what the person does not want to be asked again.
#[derive(Debug, Default)]
pub(super) struct House {
    rules: HouseRules,
    /// The person does not decide now, in this window, about trust.
    puts_off_trust: bool,
    /// The same about hooks.
    puts_off_hooks: bool,
}

impl ComposerPanel {
    /// Asks what the folder has to say. Until it is known, nothing is shown.
    pub(super) fn load_house(&mut self, cx: &mut Context<Self>) {
        self.house = House::default();
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self._house = Some(cx.spawn(async move |this, cx| {
            let house = agents.house(root).await;
            // The window may be gone by then.
            this.update(cx, |this, cx| this.took_house(house, cx)).ok();
        }));
    }

    fn took_house(&mut self, house: Result<HouseRules, String>, cx: &mut Context<Self>) {
        match house {
            Ok(rules) => self.house.rules = rules,
            Err(sentence) => self.trouble = Some(sentence),
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
        self.consent(Consent::Hooks, cx);
    }

    /// What waits for the person before a session begins.
    pub(super) fn render_house(&self, cx: &mut Context<Self>) -> Vec<AnyElement> {
        if self.open.is_some() {
            return Vec::new();
        }
        let rules = &self.house.rules;
        let waits_for_trust = !rules.is_trusted && !rules.guides.is_empty();
        let trust = (waits_for_trust && !self.house.puts_off_trust).then(|| self.render_trust(cx));
        let hooks = (!self.house.puts_off_hooks)
            .then(|| self.render_hooks(&rules.hooks, cx))
            .flatten();
        trust.into_iter().chain(hooks).collect()
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
        card("agent-house-trust", text, None, buttons, cx)
    }

    fn render_hooks(&self, waiting: &[WaitingHooks], cx: &Context<Self>) -> Option<AnyElement> {
        let first = waiting.first()?;
        let of_root = |path: &base::AbsPath| {
            let root = self.root.as_ref()?;
            Some(path.relative_to(root)?.display().to_string())
        };
        let names: Vec<_> = waiting
            .iter()
            .map(|file| of_root(&file.path).unwrap_or_else(|| file.path.to_string()))
            .collect();
        let text = format!(
            "The hooks in {} run commands by themselves while agents work. They wait for you:",
            names.join(" and ")
        );
        let path = first.path.clone();
        let buttons = [
            Button::new("agent-hooks", "Let them run")
                .style(ButtonStyle::Plain)
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
        let commands = render_commands(waiting);
        Some(card("agent-house-hooks", text, Some(commands), buttons, cx))
    }
}

fn render_commands(waiting: &[WaitingHooks]) -> AnyElement {
    let all = waiting.iter().flat_map(|file| &file.commands);
    let count = all.clone().count();
    let lines = all
        .take(SHOWN)
        .map(|command| Label::new(command.clone()).mono().small());
    let more = (count > SHOWN).then(|| {
        let text = format!("and {} more", count - SHOWN);
        Label::new(text).small().muted()
    });
    div()
        .flex()
        .flex_col()
        .min_w_0()
        .gap(dp(2.0))
        .children(lines)
        .children(more)
        .into_any_element()
}

fn card(
    id: &'static str,
    text: String,
    below: Option<AnyElement>,
    buttons: impl IntoIterator<Item = Button>,
    cx: &Context<ComposerPanel>,
) -> AnyElement {
    let colors = cx.theme().colors;
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
    div()
        .id(id)
        .role(Role::Status)
        .aria_label(text)
        .test_support()
        .flex()
        .flex_col()
        .gap(dp(8.0))
        .p(dp(12.0))
        .rounded(px(6.0))
        .border_1()
        .border_color(colors.border_strong)
        .bg(colors.surface)
        .child(sentence)
        .children(below)
        .child(div().flex().flex_wrap().gap(dp(8.0)).children(buttons))
        .into_any_element()
}
