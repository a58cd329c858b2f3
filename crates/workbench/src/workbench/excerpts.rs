//! Places of several files in one tab, where they are edited as one text.

mod head;
mod places;

use base::LogErr as _;
use editor::{DocumentModel, Editor, Environment, Excerpt, Excerpts};
use gpui_kit::{AppContext as _, Context, Entity, SharedString, Window};
use project::Binary;
use text::RowSpan;
use ui::Tone;

use super::{Goal, How, Workbench};
use crate::actions::excerpts::OpenSource;
use crate::documents::Documents;
use crate::item::Item;
use crate::layout::Opening;
use crate::notices::Notice;
pub(crate) use places::{FilePlaces, gather};

impl Workbench {
    /// Opens rows of files in one tab; files that cannot be read are told.
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
        let environment = Environment {
            files: self.services.files.clone(),
            clock: self.services.clock.clone(),
            recovery_folder: self.services.dirs.recovery(),
        };
        for excerpt in &excerpts {
            Documents::stop_waiting(&excerpt.source, cx);
        }
        let excerpts = cx.new(|cx| Excerpts::new(excerpts, environment, cx));
        let editor = Editor::of_excerpts(excerpts.clone(), window, cx);
        self.put_heads(&editor, &excerpts, cx);
        // The line above the first row is part of what is to be seen.
        editor.update(cx, |editor, cx| editor.set_scroll_top(0.0, cx));
        self.leave_place(cx);
        let pane = self.layout.active_pane();
        self.add_item(
            Item::Excerpts(editor, title),
            pane,
            Opening::Lasting,
            window,
            cx,
        );
        self.focus_active(window, cx);
    }

    /// Says above the rows of each file which file it is, and draws a line between places of one file.
    fn put_heads(
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
            let (height, view) = match before.as_ref() == Some(&source) {
                true => head::rule(cx),
                false => head::file(self.head_of(&source, cx), excerpts, index, cx),
            };
            before = Some(source);
            let spec = head::above(row, height);
            editor.update(cx, |editor, cx| editor.insert_block(spec, view, cx));
        }
    }

    fn head_of(&self, source: &Entity<DocumentModel>, cx: &Context<Self>) -> head::File {
        let path = source.read(cx).path().cloned();
        let shown = path.as_ref().map(|path| self.display_path(path, cx));
        let shown = shown.unwrap_or_else(|| source.read(cx).document().title());
        let (folder, name) = shown.rsplit_once('/').unwrap_or(("", &shown));
        head::File {
            name: name.to_owned().into(),
            folder: folder.to_owned().into(),
            source: source.clone(),
            workbench: cx.weak_entity(),
        }
    }

    /// Opens the file that the row at the caret comes from.
    pub(super) fn open_source(
        &mut self,
        _: &OpenSource,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let editor = self.active_item().and_then(Item::editor).cloned();
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
        let goal = Goal::InRow {
            row,
            start: point.column.0,
            end: point.column.0,
        };
        self.open_path(path, How::lasting().at(Some(goal)), window, cx);
    }
}

/// The rows around a place, for showing it among its neighbours.
pub(crate) fn around(rows: RowSpan, more: u32) -> RowSpan {
    RowSpan {
        start: base::Row(rows.start.0.saturating_sub(more)),
        end: rows.end + more,
    }
}
