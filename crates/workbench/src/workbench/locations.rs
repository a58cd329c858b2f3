//! Places that language servers relate to the symbol at the caret: definition, declaration, type, implementations,
//! references.
//!
//! One place is opened; several are shown as excerpts in one tab.
//! Start at `search` and `go_to`.

use std::collections::{HashMap, HashSet};

use base::{AbsPath, ByteOffset, LineFeeds, Row, Span, printable};
use editor::Editor;
use futures::future::join_all;
use gpui_kit::{
    App, AppContext as _, Context, Div, Entity, InteractiveElement as _, SharedString, Stateful,
    Task, Window,
};
use host::Files;
use lsp::{Location, LocationKind, RequestError};
use text::{RowSpan, Snapshot};

use super::Workbench;
use crate::actions::language::{
    FindReferences, GoToDeclaration, GoToDefinition, GoToImplementation, GoToTypeDefinition,
};
use crate::documents::Documents;
use crate::excerpt_rows::{expanded_rows, gather};
use crate::folder::OpenFolder;
use crate::item::TabItem;
use crate::open_options::GoToPosition;

/// Key of the notifications about places.
pub(super) const NOTICE: &str = "locations";
/// Rows shown around each place.
const CONTEXT: u32 = 3;
/// Largest file that is read to find a place in it, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// Maximum number of chars of a word on each side of the caret.
const MAX_WORD: usize = 100;
/// Maximum number of chars of a row that are shown in a list.
const MAX_LINE: usize = 120;
/// Maximum number of places that are shown.
const MAX_PLACES: usize = 2_000;

/// A place in a file, in the present text of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPlace {
    pub(crate) path: AbsPath,
    pub(crate) span: Span,
    pub(crate) rows: RowSpan,
    /// Start of the text in its first row, without indentation.
    pub(crate) line: SharedString,
}

/// A search for the places that are related to the symbol at the caret of the active text.
pub(super) struct LocationSearch {
    /// The text, the path under which the servers know it, and the caret.
    pub(super) editor: Entity<Editor>,
    pub(super) path: AbsPath,
    pub(super) at: ByteOffset,
    /// The word at the caret; may be empty.
    pub(super) word: String,
    pub(super) places: Task<Result<Vec<FoundPlace>, RequestError>>,
}

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    let kinds = LocationKind::References {
        include_declaration: true,
    };
    element
        .on_action(cx.listener(|this, _: &GoToDefinition, window, cx| {
            go_to(this, LocationKind::Definition, window, cx);
        }))
        .on_action(cx.listener(|this, _: &GoToDeclaration, window, cx| {
            go_to(this, LocationKind::Declaration, window, cx);
        }))
        .on_action(cx.listener(|this, _: &GoToTypeDefinition, window, cx| {
            go_to(this, LocationKind::TypeDefinition, window, cx);
        }))
        .on_action(cx.listener(|this, _: &GoToImplementation, window, cx| {
            go_to(this, LocationKind::Implementation, window, cx);
        }))
        .on_action(cx.listener(move |this, _: &FindReferences, window, cx| {
            go_to(this, kinds, window, cx);
        }))
}

/// Asks the servers of the active text for places related to the symbol at the caret, and shows them. At its own
/// definition, the references are shown.
pub(super) fn go_to(
    workbench: &mut Workbench,
    kind: LocationKind,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(search) = search(workbench, kind, window, cx) else {
        return;
    };
    cx.spawn_in(window, async move |this, cx| {
        let found = search.places.await;
        let (here, at) = (search.path, search.at);
        let shown = this.update_in(cx, |this, window, cx| match found {
            Ok(places) => show_places(this, kind, &search.word, (&here, at), places, window, cx),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Asks the servers of the active text for places related to the symbol at the caret. Reports to the user if no server
/// can answer.
pub(super) fn search(
    workbench: &mut Workbench,
    kind: LocationKind,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<LocationSearch> {
    let editor = workbench.active_item().and_then(TabItem::editor).cloned()?;
    let model = editor.read(cx).model().clone();
    let Some((servers, path)) = OpenFolder::servers_of(&model, cx) else {
        workbench.tell(NOTICE, "No language server serves this text", window, cx);
        return None;
    };
    let at = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    let word = word_at(&model.read(cx).snapshot(), at);
    let requests: Vec<_> = servers
        .read(cx)
        .servers_of(&path)
        .iter()
        .filter_map(|server| server.connection.locations(kind, &path, at))
        .collect();
    if requests.is_empty() {
        let sentence = "The language server of this text cannot answer that, or does not run yet";
        workbench.tell(NOTICE, sentence, window, cx);
        return None;
    }
    let files = workbench.services.files.clone();
    let texts = open_texts(cx);
    let places = cx.background_spawn(async move {
        let locations = merged(join_all(requests).await)?;
        Ok(resolved(files.as_ref(), &texts, locations))
    });
    Some(LocationSearch {
        editor,
        path,
        at,
        word,
        places,
    })
}

/// Shows locations that a server named on its own: one is opened, several become excerpts under `title`.
pub(super) fn show(
    workbench: &mut Workbench,
    title: &str,
    locations: Vec<Location>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let files = workbench.services.files.clone();
    let (texts, title) = (open_texts(cx), title.to_owned());
    let found = cx.background_spawn(async move { resolved(files.as_ref(), &texts, locations) });
    cx.spawn_in(window, async move |this, cx| {
        let places = found.await;
        let shown = this.update_in(cx, |this, window, cx| {
            if places.is_empty() {
                this.tell(NOTICE, "No places found", window, cx);
            } else {
                open_places(this, title, places, window, cx);
            }
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Returns the word around an offset; empty beside a word.
pub(super) fn word_at(text: &Snapshot, at: ByteOffset) -> String {
    let is_word = |char: &char| char.is_alphanumeric() || *char == '_';
    let before = text.chars_before(at).take_while(is_word);
    let before: Vec<char> = before.take(MAX_WORD).collect();
    let after = text.chars_at(at).take_while(is_word).take(MAX_WORD);
    before.into_iter().rev().chain(after).collect()
}

/// Returns the texts of open documents by path; the places of a server are about them, not about the files.
fn open_texts(cx: &App) -> HashMap<AbsPath, Snapshot> {
    let texts = Documents::all(cx).into_iter().filter_map(|model| {
        let model: &editor::DocumentModel = model.read(cx);
        Some((model.path()?.clone(), model.snapshot()))
    });
    texts.collect()
}

/// Joins the answers of several servers, each location once. Fails only if all servers did.
fn merged(
    answers: Vec<Result<Vec<Location>, RequestError>>,
) -> Result<Vec<Location>, RequestError> {
    let mut locations: Vec<Location> = Vec::new();
    let mut failure = None;
    let mut has_answer = false;
    for answer in answers {
        match answer {
            Ok(found) => {
                has_answer = true;
                locations.extend(found);
            }
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if !has_answer => Err(error),
        _ => Ok(locations),
    }
}

/// Converts locations to places in the present texts, without duplicates. Locations beyond their texts and in unreadable
/// files are left out. Blocks on the disk.
fn resolved(
    files: &dyn Files,
    open: &HashMap<AbsPath, Snapshot>,
    locations: Vec<Location>,
) -> Vec<FoundPlace> {
    let mut read = HashMap::<AbsPath, Option<Snapshot>>::new();
    let mut known = HashSet::new();
    let mut places: Vec<FoundPlace> = Vec::new();
    for location in locations.into_iter().take(MAX_PLACES) {
        let text = open.get(&location.path).cloned().or_else(|| {
            let text = read.entry(location.path.clone());
            text.or_insert_with(|| read_text(files, &location.path))
                .clone()
        });
        let Some(text) = text else {
            continue;
        };
        let Some(span) = location.selection.span(&text) else {
            continue;
        };
        if !known.insert((location.path.clone(), span)) {
            continue;
        }
        let rows = RowSpan {
            start: text.point_at(span.start).row,
            end: text.point_at(span.end).row + 1,
        };
        places.push(FoundPlace {
            path: location.path,
            span,
            line: line_of(&text, rows.start),
            rows,
        });
    }
    places
}

/// Returns the start of a row without its indentation.
fn line_of(text: &Snapshot, row: Row) -> SharedString {
    let chars = text.chars_at(text.row_start(row));
    let line = chars.take_while(|char| !matches!(char, '\r' | '\n'));
    let line = line.skip_while(|char| char.is_whitespace());
    let line: String = line.take(MAX_LINE).collect();
    printable(&line, LineFeeds::Escape).into_owned().into()
}

fn read_text(files: &dyn Files, path: &AbsPath) -> Option<Snapshot> {
    let bytes = files.read(path, MAX_FILE).ok()?;
    let decoded = text::decode(&bytes);
    (!decoded.binary).then(|| Snapshot::new(&decoded.text))
}

fn show_places(
    workbench: &mut Workbench,
    kind: LocationKind,
    word: &str,
    (here, at): (&AbsPath, ByteOffset),
    places: Vec<FoundPlace>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let is_here =
        |place: &FoundPlace| place.path == *here && place.span.start <= at && at <= place.span.end;
    match places.as_slice() {
        [] => workbench.tell(NOTICE, nothing_found(kind), window, cx),
        // The definition of what is defined here: its uses are of interest.
        [place] if kind == LocationKind::Definition && is_here(place) => {
            let references = LocationKind::References {
                include_declaration: false,
            };
            go_to(workbench, references, window, cx);
        }
        _ => {
            let title = title(kind, places.len(), word);
            open_places(workbench, title, places, window, cx);
        }
    }
}

/// Opens the only place, or shows several as excerpts.
fn open_places(
    workbench: &mut Workbench,
    title: String,
    places: Vec<FoundPlace>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let [place] = places.as_slice() {
        workbench.leave_place(cx);
        let position = Some(GoToPosition::Span(place.span));
        return workbench.open_at(place.path.clone(), position, false, window, cx);
    }
    let files = gather(
        places
            .into_iter()
            .map(|place| (place.path, expanded_rows(place.rows, CONTEXT))),
    );
    workbench.open_excerpts(title, files, window, cx);
}

pub(super) fn nothing_found(kind: LocationKind) -> &'static str {
    match kind {
        LocationKind::Definition => "No definition found",
        LocationKind::Declaration => "No declaration found",
        LocationKind::TypeDefinition => "No type definition found",
        LocationKind::Implementation => "No implementations found",
        LocationKind::References { .. } => "No references found",
    }
}

/// Returns the title of a number of places that are related to a word, which may be empty.
pub(super) fn title(kind: LocationKind, count: usize, word: &str) -> String {
    let (one, many) = match kind {
        LocationKind::Definition => ("Definition", "Definitions"),
        LocationKind::Declaration => ("Declaration", "Declarations"),
        LocationKind::TypeDefinition => ("Type", "Types"),
        LocationKind::Implementation => ("Implementation", "Implementations"),
        LocationKind::References { .. } => ("Reference", "References"),
    };
    let what = if count == 1 { one } else { many };
    match word {
        "" => what.to_owned(),
        word => format!("{what}: {word}"),
    }
}

#[cfg(test)]
mod tests {
    use lsp::LocationKind;

    use super::title;

    #[test]
    fn titles_name_one_place_or_several() {
        let check = |count, word, expected| {
            assert_eq!(title(LocationKind::Definition, count, word), expected);
        };
        check(1, "x", "Definition: x");
        check(2, "x", "Definitions: x");
        check(1, "", "Definition");
        check(2, "", "Definitions");
    }
}
