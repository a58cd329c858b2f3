//! Questions and notifications of a window.

use futures::channel::oneshot;
use gpui_kit::{
    AppContext as _, Context, Div, InteractiveElement as _, SharedString, Stateful, Window,
};
use ui::{Corner, Toast, Tone, show_toast};

use super::Workbench;
use crate::actions::view::{DismissNotifications, ShowNotifications};
use crate::notices::Notice;
use crate::question;
use crate::question::QuestionSpec;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_notifications))
        .on_action(cx.listener(dismiss_notifications))
}

impl Workbench {
    /// Shows a modal question. An error on the receiver means no answer.
    pub(crate) fn ask(
        &mut self,
        spec: QuestionSpec,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> oneshot::Receiver<usize> {
        question::ask(&self.modal, spec, window, cx)
    }

    /// Shows a notification in the corner of the window and adds it to the list.
    pub(crate) fn report(&mut self, toast: Notice, window: &mut Window, cx: &mut Context<Self>) {
        let at = self.services.clock.wall_ms();
        self.notices
            .update(cx, |notices, cx| notices.add(toast.clone(), at, cx));
        // The agents panel has its buttons at the bottom right.
        let corner = if self.is_agents_visible(window, cx) {
            Corner::Left
        } else {
            Corner::Right
        };
        let mut shown = Toast::new(toast.tone, toast.text).corner(corner);
        if let Some(key) = toast.key {
            shown = shown.key(key);
        }
        if let Some((label, action)) = toast.action {
            shown = shown.action(label, action.boxed_clone());
        }
        show_toast(shown, window, cx);
    }

    /// Shows an error notification with a message.
    pub(crate) fn report_error(
        &mut self,
        sentence: impl Into<SharedString>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.report(Notice::new(Tone::Error, sentence), window, cx);
    }

    /// Shows an informational notification. A later one with the same key replaces it on screen.
    pub(super) fn tell(
        &mut self,
        key: &'static str,
        sentence: impl Into<SharedString>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.report(Notice::new(Tone::Info, sentence).key(key), window, cx);
    }
}

fn show_notifications(
    workbench: &mut Workbench,
    _: &ShowNotifications,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notices = workbench.notices.clone();
    let list = cx.new(|cx| crate::notices::NoticeList::new(notices, window, cx));
    workbench.modal.update(cx, |modal, cx| {
        modal.show("Notifications", list, window, cx)
    });
}

fn dismiss_notifications(
    _: &mut Workbench,
    _: &DismissNotifications,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    ui::dismiss_toasts(window, cx);
}
