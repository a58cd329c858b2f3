//! The form for the name and address of the author, shown when a commit lacks them.
//!
//! Enter stores them for the repository, and then repeats the commit that failed.

use base::AbsPath;
use git_program::{CommitIdentity, IdentityScope};
use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    AnyElement, AppContext as _, Context, Entity, Focusable as _, InteractiveElement as _,
    IntoElement as _, ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _,
    Subscription, TestSupportExt as _, Window, div,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, TextField, Tone, dp};

use super::{ChangesPanel, ChangesPanelEvent, CommitKind};

/// The form that is shown.
pub(super) struct IdentityForm {
    root: AbsPath,
    name: Entity<InputState>,
    address: Entity<InputState>,
    /// The commit to repeat once the identity is stored.
    retry: Option<CommitKind>,
    _typing: [Subscription; 2],
}

/// Shows the form with the parts of the identity that are known.
pub(super) fn open(
    panel: &mut ChangesPanel,
    retry: Option<CommitKind>,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let Some(root) = panel.state.current().map(|it| it.info.root.clone()) else {
        return panel.note(Tone::Info, "There is no repository here", cx);
    };
    let reading = panel.service.identity(&root);
    cx.spawn_in(window, async move |this, cx| {
        let known = reading.await;
        this.update_in(cx, |this, window, cx| match known {
            Ok(known) => show(this, root, known, retry, window, cx),
            Err(failure) => this.fail(&failure, cx),
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}

fn show(
    panel: &mut ChangesPanel,
    root: AbsPath,
    known: CommitIdentity,
    retry: Option<CommitKind>,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let lacks_name = known.name.is_empty();
    let name = field(known.name, window, cx);
    let address = field(known.address, window, cx);
    let typing = [&name, &address].map(|field| {
        cx.subscribe_in(field, window, |this, _, event: &InputEvent, window, cx| {
            if matches!(event, InputEvent::PressEnter { .. }) {
                save(this, IdentityScope::Repository, window, cx);
            }
        })
    });
    let first = if lacks_name { &name } else { &address };
    first.read(cx).focus_handle(cx).focus(window, cx);
    panel.identity = Some(IdentityForm {
        root,
        name,
        address,
        retry,
        _typing: typing,
    });
    cx.emit(ChangesPanelEvent::AttentionRequested);
    cx.notify();
}

fn field(text: String, window: &mut Window, cx: &mut Context<ChangesPanel>) -> Entity<InputState> {
    cx.new(|cx| InputState::new(window, cx).default_value(text))
}

/// Closes the form without an effect.
pub(super) fn close(panel: &mut ChangesPanel, window: &mut Window, cx: &mut Context<ChangesPanel>) {
    if panel.identity.take().is_some() {
        panel.focus.focus(window, cx);
        cx.notify();
    }
}

/// Stores the typed identity, and repeats the commit that failed.
pub(super) fn save(
    panel: &mut ChangesPanel,
    scope: IdentityScope,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let Some(form) = &panel.identity else {
        return;
    };
    let typed = |field: &Entity<InputState>| field.read(cx).value().trim().to_owned();
    let identity = CommitIdentity {
        name: typed(&form.name),
        address: typed(&form.address),
    };
    if identity.name.is_empty() || identity.address.is_empty() {
        return panel.note(Tone::Warning, "Type both a name and an e-mail address", cx);
    }
    let (root, retry) = (form.root.clone(), form.retry);
    let storing = panel.service.store_identity(&root, identity, scope);
    cx.spawn_in(window, async move |this, cx| {
        let stored = storing.await;
        this.update_in(cx, |this, window, cx| {
            if let Err(failure) = stored {
                return this.fail(&failure, cx);
            }
            close(this, window, cx);
            match retry {
                Some(kind) => this.commit_now(kind, window, cx),
                None => this.note(Tone::Success, "Your name and address are stored", cx),
            }
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}

/// Draws the form, if it is shown.
pub(super) fn render(panel: &ChangesPanel, cx: &Context<ChangesPanel>) -> Option<AnyElement> {
    let form = panel.identity.as_ref()?;
    let button = |id: &'static str, label: &'static str, scope: IdentityScope| {
        Button::new(id, label).on_click(cx.listener(move |this, _, window, cx| {
            save(this, scope, window, cx);
        }))
    };
    let cancel = Button::new("git-identity-cancel", "Cancel")
        .on_click(cx.listener(|this, _, window, cx| close(this, window, cx)));
    let here = button(
        "git-identity-here",
        "For this repository",
        IdentityScope::Repository,
    );
    let everywhere = button(
        "git-identity-all",
        "For all repositories",
        IdentityScope::User,
    );
    let field = |state: &Entity<InputState>, label: &'static str, name: &'static str| {
        div()
            .flex()
            .flex_col()
            .gap(dp(4.0))
            .child(Label::new(label).tiny().muted())
            .child(TextField::new(state, name))
    };
    let text = "Commits carry the name and e-mail address of their author.";
    let colors = cx.theme().colors;
    let element = div()
        .key_context("GitPrompt identity")
        .id("git-identity")
        .role(Role::Group)
        .aria_label(text)
        .test_support()
        .flex()
        .flex_col()
        .gap(dp(8.0))
        .p(dp(12.0))
        .bg(colors.raised)
        .border_b_1()
        .border_color(colors.border)
        .child(
            div()
                .text_size(dp(13.0))
                .text_color(colors.text)
                .child(text),
        )
        .child(field(&form.name, "Name", "Your name"))
        .child(field(&form.address, "E-mail", "Your e-mail address"))
        .child(
            div()
                .flex()
                .flex_wrap()
                .gap(dp(8.0))
                .child(here.style(ButtonStyle::Primary))
                .child(everywhere)
                .child(cancel),
        );
    Some(element.into_any_element())
}
