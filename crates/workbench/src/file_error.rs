//! Tab that shows why a file cannot be displayed, and the available actions.

use std::sync::Arc;

use base::{AbsPath, LineFeeds, printable};
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, Context, FocusHandle, Focusable, InteractiveElement as _, IntoElement, ParentElement as _,
    Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _, WeakEntity, Window,
    div,
};
use project::{Binary, LoadError};
use ui::{ActiveTheme as _, Button, ButtonStyle, EmptyState, Icon, dp};

use crate::workbench::{OpenOptions, Workbench};

/// View of a load error.
pub struct FileErrorView {
    path: AbsPath,
    error: Arc<LoadError>,
    workbench: WeakEntity<Workbench>,
    focus: FocusHandle,
}

impl FileErrorView {
    /// Creates the view for a file and its load error.
    pub fn new(
        path: AbsPath,
        error: Arc<LoadError>,
        workbench: WeakEntity<Workbench>,
        cx: &mut Context<Self>,
    ) -> Self {
        Self {
            path,
            error,
            workbench,
            focus: cx.focus_handle(),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns the cause as a sentence.
    pub fn sentence(&self) -> SharedString {
        printable(&self.error.to_string(), LineFeeds::Keep)
            .into_owned()
            .into()
    }

    fn try_again(&mut self, binary: Binary, window: &mut Window, cx: &mut Context<Self>) {
        let (path, this) = (self.path.clone(), cx.entity());
        // The workbench queries every tab, including this one, so it is called after this update
        // ends.
        let workbench = self.workbench.clone();
        window.defer(cx, move |window, cx| {
            let how = OpenOptions {
                binary,
                ..OpenOptions::lasting()
            };
            workbench
                .update(cx, |workbench, cx| {
                    workbench.replace_refusal(&this, path, how, window, cx)
                })
                .ok();
        });
    }
}

impl Focusable for FileErrorView {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Render for FileErrorView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let is_binary = matches!(*self.error, LoadError::Binary(_));
        let again = Button::new("try-again", "Try again").on_click(
            cx.listener(|this, _, window, cx| this.try_again(Binary::Refuse, window, cx)),
        );
        let lossy =
            is_binary.then(|| {
                Button::new("open-anyway", "Open read-only")
                    .style(ButtonStyle::Primary)
                    .on_click(cx.listener(|this, _, window, cx| {
                        this.try_again(Binary::ShowLossy, window, cx)
                    }))
            });
        div()
            .id("refusal")
            .role(Role::Alert)
            .test_support()
            .aria_label(self.sentence())
            .track_focus(&self.focus)
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(
                EmptyState::new(format!("{} is not shown", self.path.printable_name()))
                    .icon(Icon::FileQuestion)
                    .detail(self.sentence())
                    .child(
                        div()
                            .flex()
                            .gap(dp(8.0))
                            .pt(dp(8.0))
                            .children(lossy)
                            .child(again),
                    ),
            )
    }
}
