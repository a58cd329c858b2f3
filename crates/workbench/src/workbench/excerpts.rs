//! Excerpts of several files in one tab, editable as one text.

mod head;

use base::LogErr as _;
use editor::{DocumentEnvironment, DocumentModel, Editor, Excerpt, Excerpts};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, InteractiveElement as _, SharedString, Stateful, Window,
};
use project::Binary;
use ui::Tone;

use super::Workbench;
use crate::actions::excerpts::OpenSource;
use crate::documents::Documents;
use crate::excerpt_rows::FilePlaces;
use crate::item::TabItem;
use crate::layout::TabOpenMode;
use crate::notices::Notice;
use crate::open_options::{GoToPosition, OpenOptions};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element.on_action(cx.listener(open_source))
}

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
                    show_excerpts(this, title, excerpts, window, cx);
                }
            })
            .log_err();
        })
        .detach();
    }
}

fn show_excerpts(
    workbench: &mut Workbench,
    title: SharedString,
    excerpts: Vec<Excerpt>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let environment = DocumentEnvironment {
        files: workbench.services.files.clone(),
        clock: workbench.services.clock.clone(),
        recovery_folder: workbench.services.dirs.recovery(),
    };
    for excerpt in &excerpts {
        Documents::stop_waiting(&excerpt.source, cx);
    }
    let excerpts = cx.new(|cx| Excerpts::new(excerpts, environment, cx));
    let editor = Editor::of_excerpts(excerpts.clone(), window, cx);
    insert_headers(workbench, &editor, &excerpts, cx);
    // The header above the first row must be visible.
    editor.update(cx, |editor, cx| editor.set_scroll_top(0.0, cx));
    workbench.leave_place(cx);
    let pane = workbench.layout.active_pane();
    workbench.add_item(
        TabItem::Excerpts(editor, title),
        pane,
        TabOpenMode::Lasting,
        window,
        cx,
    );
    workbench.focus_active(window, cx);
}

/// Inserts a header above the first excerpt of each file, and a divider between excerpts of the
/// same file.
pub(super) fn insert_headers(
    workbench: &Workbench,
    editor: &Entity<Editor>,
    excerpts: &Entity<Excerpts>,
    cx: &mut Context<Workbench>,
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
            head::file(head_of(workbench, &source, cx), excerpts, index, cx)
        };
        before = Some(source);
        let spec = head::header_block(row, height);
        editor.update(cx, |editor, cx| editor.insert_block(spec, view, cx));
    }
}

fn head_of(
    workbench: &Workbench,
    source: &Entity<DocumentModel>,
    cx: &Context<Workbench>,
) -> head::ExcerptFile {
    let path = source.read(cx).path().cloned();
    let shown = path.as_ref().map(|path| workbench.display_path(path, cx));
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
fn open_source(
    workbench: &mut Workbench,
    _: &OpenSource,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned();
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
    let position = GoToPosition::InRow {
        row,
        start: point.column.0,
        end: point.column.0,
    };
    workbench.open_path(path, OpenOptions::lasting().at(Some(position)), window, cx);
}
