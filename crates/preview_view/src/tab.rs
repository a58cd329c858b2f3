//! A view as the window shows it in a tab.

use base::{AbsPath, path_text};
use editor::DocumentModel;
use gpui_kit::{
    AnyView, App, Context, Entity, FocusHandle, Focusable as _, SharedString, Subscription, Window,
};
use ui::Icon;

use crate::comparison::ImageComparison;
use crate::event::{PreviewEvent, PreviewStatus};
use crate::hex::HexPreview;
use crate::image::ImagePreview;
use crate::kind::PreviewKind;
use crate::markdown::MarkdownPreview;
use crate::saved::SavedPreview;
use crate::table::TablePreview;

/// A view as the window shows it in a tab.
#[derive(Clone)]
pub enum PreviewTab {
    /// Markdown as it is read.
    Markdown(Entity<MarkdownPreview>),
    /// An image.
    Image(Entity<ImagePreview>),
    /// Two versions of an image.
    Comparison(Entity<ImageComparison>),
    /// A table.
    Table(Entity<TablePreview>),
    /// The bytes of a file.
    Hex(Entity<HexPreview>),
}

impl PreviewTab {
    /// Returns the title of the tab.
    pub fn title(&self, cx: &App) -> SharedString {
        match self {
            Self::Markdown(view) => view.read(cx).title(cx),
            Self::Image(view) => view.read(cx).title(),
            Self::Comparison(view) => view.read(cx).title(),
            Self::Table(view) => view.read(cx).title(),
            Self::Hex(view) => view.read(cx).title(),
        }
    }

    /// Reads the file of an image or a table again. Markdown follows its document, and bytes wait for the user.
    pub fn file_changed(&self, cx: &mut App) {
        match self {
            Self::Image(view) => view.update(cx, ImagePreview::read_again),
            Self::Table(view) => view.update(cx, TablePreview::read_again),
            Self::Markdown(_) | Self::Comparison(_) | Self::Hex(_) => {}
        }
    }

    /// Returns the icon before the title.
    pub fn icon(&self) -> Icon {
        match self {
            Self::Markdown(_) => Icon::Book,
            Self::Image(_) => Icon::FileImage,
            Self::Comparison(_) => Icon::FileDiff,
            Self::Table(_) => Icon::FileSheet,
            Self::Hex(_) => Icon::Binary,
        }
    }

    /// Returns the kind of the view; `None` for a comparison.
    pub fn kind(&self) -> Option<PreviewKind> {
        match self {
            Self::Markdown(_) => Some(PreviewKind::Markdown),
            Self::Image(_) => Some(PreviewKind::Image),
            Self::Comparison(_) => None,
            Self::Table(_) => Some(PreviewKind::Table),
            Self::Hex(_) => Some(PreviewKind::Hex),
        }
    }

    /// Returns the path of the file; `None` for an untitled document.
    pub fn path(&self, cx: &App) -> Option<AbsPath> {
        match self {
            Self::Markdown(view) => view.read(cx).path(cx),
            Self::Image(view) => Some(view.read(cx).source().path.clone()),
            Self::Comparison(view) => Some(view.read(cx).path().clone()),
            Self::Table(view) => Some(view.read(cx).source().path.clone()),
            Self::Hex(view) => Some(view.read(cx).source().path.clone()),
        }
    }

    /// Returns the document that the view shows and may edit.
    pub fn document(&self, cx: &App) -> Option<Entity<DocumentModel>> {
        match self {
            Self::Markdown(view) => Some(view.read(cx).model().clone()),
            Self::Image(_) | Self::Comparison(_) | Self::Table(_) | Self::Hex(_) => None,
        }
    }

    /// Returns the view below the tab bar.
    pub fn view(&self) -> AnyView {
        match self {
            Self::Markdown(view) => view.clone().into(),
            Self::Image(view) => view.clone().into(),
            Self::Comparison(view) => view.clone().into(),
            Self::Table(view) => view.clone().into(),
            Self::Hex(view) => view.clone().into(),
        }
    }

    /// Returns the focus handle to focus when the tab is shown.
    pub fn focus_handle(&self, cx: &App) -> FocusHandle {
        match self {
            Self::Markdown(view) => view.read(cx).focus_handle(cx),
            Self::Image(view) => view.read(cx).focus_handle(cx),
            Self::Comparison(view) => view.read(cx).focus_handle(cx),
            Self::Table(view) => view.read(cx).focus_handle(cx),
            Self::Hex(view) => view.read(cx).focus_handle(cx),
        }
    }

    /// Returns the items of the status bar.
    pub fn status(&self, cx: &App) -> Vec<PreviewStatus> {
        match self {
            Self::Markdown(view) => view.read(cx).status(),
            Self::Image(view) => view.read(cx).status(),
            Self::Comparison(view) => view.read(cx).status(),
            Self::Table(view) => view.read(cx).status(),
            Self::Hex(view) => view.read(cx).status(),
        }
    }

    /// Returns the state to store; `None` for a view that cannot be restored, such as of an untitled document.
    pub fn saved(&self, cx: &App) -> Option<SavedPreview> {
        let (kind, path) = (self.kind()?, self.path(cx)?);
        let (top, zoom) = match self {
            Self::Markdown(view) => (view.read(cx).top_row(), None),
            Self::Image(view) => (0.0, view.read(cx).zoom()),
            Self::Comparison(_) => (0.0, None),
            Self::Table(view) => (view.read(cx).top() as f64, None),
            Self::Hex(view) => (view.read(cx).top() as f64, None),
        };
        Some(SavedPreview {
            kind,
            path: path_text(&path),
            top,
            zoom,
        })
    }

    /// Passes the requests of the view to an entity.
    pub fn subscribe<T: 'static>(
        &self,
        handler: fn(&mut T, &PreviewEvent, &mut Window, &mut Context<T>),
        window: &Window,
        cx: &mut Context<T>,
    ) -> Subscription {
        match self {
            Self::Markdown(view) => cx.subscribe_in(
                view,
                window,
                move |this, _, event: &PreviewEvent, window, cx| handler(this, event, window, cx),
            ),
            Self::Image(view) => cx.subscribe_in(
                view,
                window,
                move |this, _, event: &PreviewEvent, window, cx| handler(this, event, window, cx),
            ),
            Self::Comparison(view) => cx.subscribe_in(
                view,
                window,
                move |this, _, event: &PreviewEvent, window, cx| handler(this, event, window, cx),
            ),
            Self::Table(view) => cx.subscribe_in(
                view,
                window,
                move |this, _, event: &PreviewEvent, window, cx| handler(this, event, window, cx),
            ),
            Self::Hex(view) => cx.subscribe_in(
                view,
                window,
                move |this, _, event: &PreviewEvent, window, cx| handler(this, event, window, cx),
            ),
        }
    }
}
