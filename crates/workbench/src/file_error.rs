//! Tab that shows why a file cannot be displayed, and the available actions.

use std::sync::Arc;

use base::{AbsPath, LineFeeds, printable};
use gpui_kit::{
    App, Context, EventEmitter, FocusHandle, Focusable, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div,
};
use preview_view::PreviewKind;
use preview_view::actions::{Open, OpenBytes};
use project::{Binary, LoadError};
use ui::{ActiveTheme as _, Button, ButtonStyle, EmptyState, Icon, dp};

/// View of a load error.
pub struct FileErrorView {
    path: AbsPath,
    error: Arc<LoadError>,
    focus: FocusHandle,
}

impl FileErrorView {
    /// Creates the view for a file and its load error.
    pub fn new(path: AbsPath, error: Arc<LoadError>, cx: &mut Context<Self>) -> Self {
        Self {
            path,
            error,
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
}

/// The user asked to open the file again.
pub(crate) struct RetryOpen(pub(crate) Binary);

impl EventEmitter<RetryOpen> for FileErrorView {}

impl Focusable for FileErrorView {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl Render for FileErrorView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let is_binary = matches!(*self.error, LoadError::Binary(_));
        let again = Button::new("try-again", "Try again")
            .on_click(cx.listener(|_, _, _, cx| cx.emit(RetryOpen(Binary::Refuse))));
        let is_large = matches!(*self.error, LoadError::TooLarge { .. });
        let bytes = (is_binary || is_large).then(|| {
            Button::new("open-bytes", "Open bytes")
                .style(ButtonStyle::Primary)
                .action(Box::new(OpenBytes))
        });
        let is_table = PreviewKind::of_name(&self.path.name()) == Some(PreviewKind::Table);
        let table = (is_large && is_table)
            .then(|| Button::new("open-table", "Open as table").action(Box::new(Open)));
        let lossy = is_binary.then(|| {
            Button::new("open-anyway", "Open read-only")
                .on_click(cx.listener(|_, _, _, cx| cx.emit(RetryOpen(Binary::ShowLossy))))
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
                            .flex_wrap()
                            .justify_center()
                            .gap(dp(8.0))
                            .pt(dp(8.0))
                            .children(table)
                            .children(bytes)
                            .children(lossy)
                            .child(again),
                    ),
            )
    }
}
