//! Excerpts of several files in one tab, editable as one text.

mod head;
mod positions;

use base::LogErr as _;
use editor::{DocumentEnvironment, DocumentModel, Editor, Excerpt, Excerpts};
use gpui_kit::{AppContext as _, Context, Entity, SharedString, Window};
use project::Binary;
use text::RowSpan;
use ui::Tone;

use super::{GoToPosition, OpenOptions, Workbench};
use crate::actions::excerpts::OpenSource;
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::TabOpenMode;
use crate::notices::Notice;
pub(crate) use positions::{FilePlaces, gather};

impl Workbench {
    /// Opens rows of several files in one tab and reports unreadable files.
    pub(crate) fn open_excerpts(
        &mut self,
        title: impl Into<SharedString>,
        files: Vec<FilePlaces>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let title = title.into();
        let loading: Vec<_> = files
            .into_iter()
            .map(|file| {
                let loading = Documents::open(file.path.clone(), Binary::Refuse, cx);
                (file, loading)
            })
            .collect();
        cx.spawn_in(window, async move |this, cx| {
            let mut excerpts = Vec::new();
            let mut refused = Vec::new();
            for (file, loading) in loading {
                match loading.await {
                    Ok(source) => excerpts.extend(file.rows.into_iter().map(|rows| Excerpt {
                        source: source.clone(),
                        rows,
                    })),
                    Err(error) => refused.push(error.to_string()),
                }
            }
            this.update_in(cx, |this, window, cx| {
                for sentence in refused {
                    this.report(Notice::new(Tone::Warning, sentence), window, cx);
                }
                if !excerpts.is_empty() {
                    this.show_excerpts(title, excerpts, window, cx);
                }
            })
            .log_err();
        })
        .detach();
    }

    fn show_excerpts(
        &mut self,
        title: SharedString,
        excerpts: Vec<Excerpt>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let environment = DocumentEnvironment {
            files: self.services.files.clone(),
            clock: self.services.clock.clone(),
            recovery_folder: self.services.dirs.recovery(),
        };
        for excerpt in &excerpts {
            Documents::stop_waiting(&excerpt.source, cx);
        }
        let excerpts = cx.new(|cx| Excerpts::new(excerpts, environment, cx));
        let editor = Editor::of_excerpts(excerpts.clone(), window, cx);
        self.insert_headers(&editor, &excerpts, cx);
        // The header above the first row must be visible.
        editor.update(cx, |editor, cx| editor.set_scroll_top(0.0, cx));
        self.leave_place(cx);
        let pane = self.layout.active_pane();
        self.add_item(
            TabItem::Excerpts(editor, title),
            pane,
            TabOpenMode::Lasting,
            window,
            cx,
        );
        self.focus_active(window, cx);
    }

    /// Inserts a header above the first excerpt of each file, and a divider between excerpts of the
    /// same file.
    fn insert_headers(
        &self,
        editor: &Entity<Editor>,
        excerpts: &Entity<Excerpts>,
        cx: &mut Context<Self>,
    ) {
        let mut before: Option<Entity<DocumentModel>> = None;
        for index in 0..excerpts.read(cx).count() {
            let found = excerpts
                .read(cx)
                .excerpt(index, cx)
                .zip(excerpts.read(cx).first_row(index, cx));
            let Some(((source, _), row)) = found else {
                continue;
            };
            let (height, view) = if before.as_ref() == Some(&source) {
                head::rule(cx)
            } else {
                head::file(self.head_of(&source, cx), excerpts, index, cx)
            };
            before = Some(source);
            let spec = head::header_block(row, height);
            editor.update(cx, |editor, cx| editor.insert_block(spec, view, cx));
        }
    }

    fn head_of(&self, source: &Entity<DocumentModel>, cx: &Context<Self>) -> head::ExcerptFile {
        let path = source.read(cx).path().cloned();
        let shown = path.as_ref().map(|path| self.display_path(path, cx));
        let shown = shown.unwrap_or_else(|| source.read(cx).document().title());
        let (folder, name) = shown.rsplit_once('/').unwrap_or(("", &shown));
        head::ExcerptFile {
            name: name.to_owned().into(),
            folder: folder.to_owned().into(),
            source: source.clone(),
            workbench: cx.weak_entity(),
        }
    }

    /// Opens the source file of the row at the caret.
    pub(super) fn open_source(
        &mut self,
        _: &OpenSource,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let editor = self.active_item().and_then(TabItem::editor).cloned();
        let Some((editor, excerpts)) =
            editor.and_then(|editor| Some((editor.clone(), editor.read(cx).excerpts()?.clone())))
        else {
            return;
        };
        let point = editor.update(cx, |editor, cx| editor.caret_point(cx));
        let Some((_, source, row)) = excerpts.read(cx).source_of(point.row, cx) else {
            return;
        };
        let Some(path) = source.read(cx).path().cloned() else {
            return;
        };
        let goal = GoToPosition::InRow {
            row,
            start: point.column.0,
            end: point.column.0,
        };
        self.open_path(path, OpenOptions::lasting().at(Some(goal)), window, cx);
    }
}

/// Returns the rows extended by `more` rows of context on both sides.
pub(crate) fn expanded_rows(rows: RowSpan, more: u32) -> RowSpan {
    RowSpan {
        start: base::Row(rows.start.0.saturating_sub(more)),
        end: rows.end + more,
    }
}
