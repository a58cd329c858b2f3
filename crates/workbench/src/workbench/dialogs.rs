//! Questions and notifications of a window.

use futures::channel::oneshot;
use gpui_kit::{AppContext as _, Context, SharedString, Window};
use ui::{Corner, Toast, Tone, show_toast};

use super::Workbench;
use crate::actions::view::{DismissNotifications, ShowNotifications};
use crate::notices::Notice;
use crate::question::{QuestionDialog, QuestionSpec};

impl Workbench {
    /// Shows a modal question. An error on the receiver means no answer.
    pub(crate) fn ask(
        &mut self,
        asked: QuestionSpec,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> oneshot::Receiver<usize> {
        let title = asked.title.clone();
        let mut answer = None;
        let question = cx.new(|cx| {
            let (question, receiver) = QuestionDialog::new(asked, cx);
            answer = Some(receiver);
            question
        });
        self.modal
            .update(cx, |modal, cx| modal.ask(title, question, window, cx));
        answer.unwrap_or_else(|| oneshot::channel().1)
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

    pub(super) fn show_notifications(
        &mut self,
        _: &ShowNotifications,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let notices = self.notices.clone();
        let list = cx.new(|cx| crate::notices::NoticeList::new(notices, window, cx));
        self.modal.update(cx, |modal, cx| {
            modal.show("Notifications", list, window, cx)
        });
    }

    pub(super) fn dismiss_notifications(
        &mut self,
        _: &DismissNotifications,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        ui::dismiss_toasts(window, cx);
    }
}
