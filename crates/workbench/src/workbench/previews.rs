//! Previews in a window: the file types that open in one, the menu of ways to open a file, previews beside their text.
//!
//! Start at `open`; the views are in `preview_view`.

use base::{AbsPath, text_path};
use editor::{DocumentModel, Editor};
use gpui_kit::{AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Window};
use preview_view::actions::{Open, OpenBytes, OpenText, OpenToTheSide, OpenWith};
use preview_view::{
    HexPreview, ImagePreview, MarkdownPreview, PreviewEvent, PreviewKind, PreviewSource,
    PreviewTab, SavedPreview, TablePreview,
};
use project::Binary;
use ui::ButtonStyle;

use super::Workbench;
use super::open::show_again;
use crate::documents::Documents;
use crate::item::TabItem;
use crate::layout::{ItemId, PaneId, PaneSide, TabOpenMode};
use crate::open_options::{Focus, GoToPosition, OpenOptions};
use crate::pending_file::PendingFile;
use crate::pickers::choices;
use crate::question::QuestionSpec;
use crate::target::LineColumn;

/// Key of the notifications of this module.
const NOTICE: &str = "previews";
/// Answers to the question about an address.
const OPEN_ADDRESS: usize = 0;
const CANCEL: usize = 1;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(open_preview))
        .on_action(cx.listener(open_to_the_side))
        .on_action(cx.listener(open_with))
        .on_action(cx.listener(open_text))
        .on_action(cx.listener(open_bytes))
}

/// Returns the kind in which a file opens because it is no text; `None` if it opens as text, or the options ask for that.
pub(super) fn kind_by_default(path: &AbsPath, options: OpenOptions) -> Option<PreviewKind> {
    let is_text_wanted = options.binary == Binary::ShowLossy || options.place.is_some();
    PreviewKind::by_default(&path.name()).filter(|_| !is_text_wanted)
}

/// Reads the images and tables again whose files changed on disk.
pub(super) fn files_changed(
    workbench: &Workbench,
    is_changed: impl Fn(&AbsPath) -> bool,
    cx: &mut Context<Workbench>,
) {
    let tabs = workbench.items.values().filter_map(|entry| {
        let tab = entry.item.preview()?;
        let is_shown = tab.path(cx).is_some_and(|path| is_changed(&path));
        is_shown.then(|| tab.clone())
    });
    for tab in tabs.collect::<Vec<_>>() {
        tab.file_changed(cx);
    }
}

/// Opens a file in a kind of view: in the tab of the pane that shows it so, or in a new one.
pub(super) fn open(
    workbench: &mut Workbench,
    path: AbsPath,
    kind: PreviewKind,
    pane: PaneId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(item) = shown_in(workbench, pane, &path, kind, cx) {
        return show_again(workbench, item, options, window, cx);
    }
    if kind != PreviewKind::Markdown {
        let tab = new_tab(workbench, path, kind, None, window, cx);
        return add(workbench, tab, pane, options, window, cx);
    }
    let loading = Documents::open(path, Binary::Refuse, cx);
    cx.spawn_in(window, async move |this, cx| {
        let loaded = loading.await;
        let shown = this.update_in(cx, |this, window, cx| match loaded {
            Ok(document) => open_markdown(this, document, pane, options, window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Opens the preview of a document in a pane.
fn open_markdown(
    workbench: &mut Workbench,
    document: Entity<DocumentModel>,
    pane: PaneId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let items = workbench.items_of(document.entity_id(), cx).into_iter();
    let known = items.into_iter().find(|item| {
        let preview = workbench.item(*item).and_then(TabItem::preview);
        preview.is_some() && workbench.layout.pane_of(*item) == Some(pane)
    });
    if let Some(item) = known {
        return show_again(workbench, item, options, window, cx);
    }
    let tab = markdown_tab(workbench, document, 0.0, cx);
    add(workbench, tab, pane, options, window, cx);
}

/// Creates the preview of a document with a row of its text at the top.
pub(super) fn markdown_tab(
    workbench: &Workbench,
    document: Entity<DocumentModel>,
    top: f64,
    cx: &mut Context<Workbench>,
) -> PreviewTab {
    Documents::stop_waiting(&document, cx);
    let (files, root) = (workbench.services.files.clone(), workbench.root(cx));
    PreviewTab::Markdown(cx.new(|cx| MarkdownPreview::new(document, files, root, top, cx)))
}

/// Creates a view of a file other than Markdown, in its stored state.
fn new_tab(
    workbench: &Workbench,
    path: AbsPath,
    kind: PreviewKind,
    saved: Option<&SavedPreview>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> PreviewTab {
    let source = PreviewSource {
        files: workbench.services.files.clone(),
        path,
        root: workbench.root(cx),
    };
    let top = saved.map_or(0.0, |saved| saved.top);
    let row = top.max(0.0) as u64;
    match kind {
        PreviewKind::Image => {
            let zoom = saved.and_then(|saved| saved.zoom);
            PreviewTab::Image(cx.new(|cx| ImagePreview::new(source, zoom, cx)))
        }
        PreviewKind::Table => PreviewTab::Table(cx.new(|cx| TablePreview::new(source, row, cx))),
        PreviewKind::Hex | PreviewKind::Markdown => {
            PreviewTab::Hex(cx.new(|cx| HexPreview::new(source, row, window, cx)))
        }
    }
}

/// Adds a view in a new tab of a pane.
fn add(
    workbench: &mut Workbench,
    tab: PreviewTab,
    pane: PaneId,
    options: OpenOptions,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let pane = if workbench.layout.tabs(pane).is_some() {
        pane
    } else {
        workbench.layout.active_pane()
    };
    workbench.add_item(TabItem::Preview(tab), pane, options.opening, window, cx);
    if options.focus == Focus::Take {
        workbench.focus_active(window, cx);
    }
    workbench.tree_follows(cx);
}

/// Restores the view of a stored tab; that of Markdown waits until its text is read. Returns `None` for a broken path.
pub(super) fn restored(
    workbench: &Workbench,
    saved: SavedPreview,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<TabItem> {
    let path = AbsPath::new(text_path(&saved.path))?;
    if saved.kind == PreviewKind::Markdown {
        let waiting = cx.new(|cx| PendingFile::of_preview(path, saved, cx));
        return Some(TabItem::Waiting(waiting));
    }
    let tab = new_tab(workbench, path, saved.kind, Some(&saved), window, cx);
    Some(TabItem::Preview(tab))
}

/// Returns the tab of a pane that shows a file in a kind of view.
fn shown_in(
    workbench: &Workbench,
    pane: PaneId,
    path: &AbsPath,
    kind: PreviewKind,
    cx: &Context<Workbench>,
) -> Option<ItemId> {
    let tabs = workbench.layout.tabs(pane)?.tabs();
    let shows = |item: &ItemId| {
        let preview = workbench.item(*item).and_then(TabItem::preview);
        preview.is_some_and(|tab| tab.kind() == Some(kind) && tab.path(cx).as_ref() == Some(path))
    };
    tabs.iter().map(|tab| tab.item).find(shows)
}

/// Lets previews scroll in step with the texts in sight, and shows the properties of the active one.
pub(super) fn follow_layout(workbench: &Workbench, cx: &mut Context<Workbench>) {
    let panes = workbench.layout.tree().panes();
    let shown = panes
        .iter()
        .filter_map(|pane| workbench.layout.tabs(*pane)?.active());
    let editors: Vec<Entity<Editor>> = shown
        .filter_map(|item| match workbench.item(item)? {
            TabItem::Text(editor) => Some(editor.clone()),
            _ => None,
        })
        .collect();
    let previews = workbench
        .items
        .values()
        .filter_map(|entry| match &entry.item {
            TabItem::Preview(PreviewTab::Markdown(view)) => Some(view.clone()),
            _ => None,
        });
    for preview in previews.collect::<Vec<_>>() {
        let model = preview.read(cx).model().clone();
        let editor = editors.iter().find(|it| *it.read(cx).model() == model);
        preview.update(cx, |preview, cx| preview.follow(editor, cx));
    }
    let active = workbench.active_item().and_then(TabItem::preview).cloned();
    let status = workbench.status.clone();
    status.update(cx, |status, cx| status.follow_preview(active, cx));
}

/// Handles a request of a view.
pub(super) fn preview_event(
    workbench: &mut Workbench,
    event: &PreviewEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        PreviewEvent::OpenFile { path, line } => {
            let place = line.map(|line| GoToPosition::Place(LineColumn::new(line, 1)));
            let options = OpenOptions::lasting().at(place);
            workbench.open_path(path.clone(), options, window, cx);
        }
        PreviewEvent::OpenAddress(address) => ask_to_open(workbench, address, window, cx),
        PreviewEvent::Tell(sentence) => workbench.tell(NOTICE, sentence.clone(), window, cx),
        PreviewEvent::StatusChanged => {
            workbench.status.update(cx, |_, cx| cx.notify());
            workbench.store_timer.put_off(cx);
        }
        PreviewEvent::Cancelled => workbench.focus_active(window, cx),
    }
}

/// Shows an address of a document, and opens it if the user agrees: its text may promise another one.
fn ask_to_open(
    workbench: &mut Workbench,
    address: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let spec = QuestionSpec {
        title: "Open this address in the browser?".into(),
        detail: address.to_owned().into(),
        answers: vec![
            ("Open".into(), ButtonStyle::Primary),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: CANCEL,
    };
    let answer = workbench.ask(spec, window, cx);
    let address = address.to_owned();
    cx.spawn_in(window, async move |this, cx| {
        if answer.await == Ok(OPEN_ADDRESS) {
            let opened = this.update_in(cx, |_, _, cx| cx.open_url(&address));
            // The window may be gone by then.
            opened.ok();
        }
    })
    .detach();
}

/// Returns the path of the active tab with the kind of preview that fits it; reports if there is none.
fn active_kind(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<(AbsPath, PreviewKind)> {
    let item = workbench.active_item()?;
    let path = item.path(cx);
    let language = item
        .document(cx)
        .and_then(|document| document.read(cx).language());
    let is_markdown = language.is_some_and(|language| language.name() == "Markdown");
    let kind = path
        .as_ref()
        .and_then(|path| PreviewKind::of_name(&path.name()));
    let kind = kind.or(is_markdown.then_some(PreviewKind::Markdown));
    if path.is_none() || kind.is_none() {
        let text = "There is no preview of this file. \u{201c}Open with\u{201d} shows all ways to open it.";
        workbench.tell(NOTICE, text, window, cx);
    }
    path.zip(kind)
}

fn open_preview(
    workbench: &mut Workbench,
    _: &Open,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some((path, kind)) = active_kind(workbench, window, cx) {
        let pane = workbench.layout.active_pane();
        open(
            workbench,
            path,
            kind,
            pane,
            OpenOptions::lasting(),
            window,
            cx,
        );
    }
}

/// Opens the preview in the pane on the right, or in a new one there; the text keeps the keyboard.
fn open_to_the_side(
    workbench: &mut Workbench,
    _: &OpenToTheSide,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((path, kind)) = active_kind(workbench, window, cx) else {
        return;
    };
    let document = workbench.active_item().and_then(|item| item.document(cx));
    let pane = workbench.layout.active_pane();
    let beside = workbench.layout.tree().neighbour(pane, PaneSide::Right);
    let beside = beside.or_else(|| workbench.layout.split(pane, PaneSide::Right));
    let options = OpenOptions {
        opening: TabOpenMode::Lasting,
        focus: Focus::Leave,
        ..OpenOptions::lasting()
    };
    let beside = beside.unwrap_or(pane);
    match document.filter(|_| kind == PreviewKind::Markdown) {
        Some(document) => open_markdown(workbench, document, beside, options, window, cx),
        None => open(workbench, path, kind, beside, options, window, cx),
    }
    if workbench.layout.set_active_pane(pane) {
        workbench.focus_active(window, cx);
    }
    workbench.layout_changed(cx);
}

fn open_with(
    workbench: &mut Workbench,
    _: &OpenWith,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match workbench.active_item().and_then(|item| item.path(cx)) {
        Some(path) => choose(workbench, path, window, cx),
        None => workbench.tell(NOTICE, "This tab shows no file", window, cx),
    }
}

/// Asks how to open a file, and opens it so in the active pane.
pub(super) fn choose(
    workbench: &mut Workbench,
    path: AbsPath,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let shown = workbench
        .active_item()
        .filter(|item| item.path(cx).as_ref() == Some(&path));
    let current = shown.and_then(TabItem::preview).and_then(PreviewTab::kind);
    let suggested = PreviewKind::of_name(&path.name());
    let this = cx.weak_entity();
    let picker = choices::open_with(suggested, current, move |kind, window, cx| {
        let path = path.clone();
        let opened = this.update(cx, |this, cx| open_as(this, path, kind, window, cx));
        // The window may be gone by then.
        opened.ok();
    });
    workbench.pick(picker, window, cx);
}

/// Opens a file in the active pane as a kind of view, or as text.
fn open_as(
    workbench: &mut Workbench,
    path: AbsPath,
    kind: Option<PreviewKind>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let pane = workbench.layout.active_pane();
    let options = OpenOptions::lasting();
    match kind {
        Some(kind) => open(workbench, path, kind, pane, options, window, cx),
        None => {
            let options = OpenOptions {
                binary: Binary::ShowLossy,
                ..options
            };
            workbench.open_path_in(path, pane, options, window, cx);
        }
    }
}

fn open_text(
    workbench: &mut Workbench,
    _: &OpenText,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        open_as(workbench, path, None, window, cx);
    }
}

fn open_bytes(
    workbench: &mut Workbench,
    _: &OpenBytes,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(path) = workbench.active_item().and_then(|item| item.path(cx)) {
        open_as(workbench, path, Some(PreviewKind::Hex), window, cx);
    }
}
