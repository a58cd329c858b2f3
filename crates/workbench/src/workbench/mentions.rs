//! Names for `@` in the agent's prompt: files and folders of the window, symbols of the text and of
//! the index.
//!
//! Start at `mention_source`. The search runs in the background; dropping its task cancels it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{LineFeeds, path_text, printable};
use composer_panel::{CompletionKind, CompletionRow, FindMentions};
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use project::fuzzy::{self, CandidateKind};
use syntax::SyntaxSnapshot;
use terminal_panel::TerminalMention;
use text::Snapshot;

use super::Workbench;
use crate::code_index::CodeIndex;
use crate::finder::{FileMatch, find_files};
use crate::item::TabItem;
use crate::pickers::byte_offsets;

/// Maximum numbers of rows of each kind.
const MAX_FILES: usize = 30;
const MAX_FOLDERS: usize = 5;
const MAX_SYMBOLS: usize = 8;
/// The mention of problems.
const PROBLEMS: &str = "problems";
/// The mention of a terminal.
const TERMINAL: &str = "terminal";
/// Number of letters of such a mention after which its subjects are listed.
const MIN_LETTERS: usize = 3;
/// Maximum length of a command in a mention, in bytes.
const MAX_COMMAND: usize = 40;

/// The names of a window, as of one query.
struct MentionNames {
    files: Arc<Vec<String>>,
    /// Files that were used, the latest first. Open files are among them.
    recent: Vec<String>,
    /// The text in the active pane, with its syntax.
    text: Option<(Snapshot, SyntaxSnapshot)>,
    index: Option<Arc<dyn CodeIndex>>,
    /// The files with errors or warnings, and the counts of these as text.
    problems: Arc<[(String, String)]>,
    /// The terminals, if the query is about them.
    terminals: Vec<TerminalMention>,
}

/// Sets its flag when it is dropped, so that the search ends once its answer is not needed.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the source of names for the prompt of a window.
pub(super) fn mention_source(workbench: WeakEntity<Workbench>) -> FindMentions {
    Rc::new(move |query, cx| {
        let names = workbench
            .upgrade()
            .and_then(|workbench| names(query, workbench.read(cx), cx));
        let Some(names) = names else {
            return Task::ready(Vec::new());
        };
        let cancel = Arc::new(AtomicBool::new(false));
        let (query, guard) = (query.to_owned(), CancelOnDrop(cancel.clone()));
        let search = cx.background_spawn(async move { find(&query, &names, &cancel) });
        cx.spawn(async move |_| {
            let found = search.await;
            drop(guard);
            found
        })
    })
}

fn names(query: &str, workbench: &Workbench, cx: &App) -> Option<MentionNames> {
    let folder = workbench.folder.as_ref()?.read(cx);
    let editor = workbench.active_item().and_then(TabItem::editor);
    let text = editor.and_then(|editor| {
        let model = editor.read(cx).model().read(cx);
        Some((model.snapshot(), model.syntax()?.clone()))
    });
    let terminal_dock = workbench.terminals.panel();
    let terminal_dock = terminal_dock.filter(|_| subject_query(query, TERMINAL).is_some());
    Some(MentionNames {
        files: folder.files().paths.clone(),
        recent: workbench.files_by_use(folder.root(), cx),
        text,
        index: folder.index().cloned(),
        problems: workbench.problem_report.files.clone(),
        terminals: terminal_dock.map_or_else(Vec::new, |dock| dock.read(cx).mentions(cx)),
    })
}

/// Returns the rows for a query. Lines after the name, as in `src/a.rs:10-20`, are kept.
fn find(query: &str, names: &MentionNames, cancel: &AtomicBool) -> Vec<CompletionRow> {
    let problems = subject_query(query, PROBLEMS).map(|part| problem_rows(part, &names.problems));
    let terminals = subject_query(query, TERMINAL);
    let terminals = terminals.map(|part| terminal_rows(part, &names.terminals));
    let (name, lines) = split_lines(query);
    let files = find_files(name, &names.files, &names.recent, MAX_FILES, cancel);
    let mut rows: Vec<CompletionRow> = files.iter().map(|it| file_row(it, lines)).collect();
    let subjects = problems.into_iter().chain(terminals).flatten();
    rows.splice(0..0, subjects.collect::<Vec<_>>());
    if lines.is_empty() && !name.is_empty() {
        rows.extend(symbols(name, names, cancel));
        rows.extend(folders(name, &files, cancel));
    }
    rows
}

/// Returns the part of a query that selects among the subjects of a mention, such as `problems`; `None`
/// for another query.
fn subject_query<'q>(query: &'q str, word: &str) -> Option<&'q str> {
    match query.split_once(':') {
        Some((of, part)) if of == word => Some(part),
        Some(_) => None,
        None => (query.len() >= MIN_LETTERS && word.starts_with(query)).then_some(""),
    }
}

/// Returns the rows of `@terminal:`: the terminals whose title or last command contains the query.
fn terminal_rows(query: &str, terminals: &[TerminalMention]) -> Vec<CompletionRow> {
    let query = query.to_lowercase();
    let contains = |text: &str| text.to_lowercase().contains(&query);
    let found = terminals
        .iter()
        .filter(|it| contains(&it.command) || contains(&it.title));
    found
        .map(|it| {
            let name = if it.command.is_empty() {
                it.title.as_ref()
            } else {
                it.command.as_str()
            };
            row(
                name,
                &format!("{} \u{b7} {}", it.title, it.state),
                Vec::new(),
                CompletionKind::Terminal,
                terminal_name(name, &it.id),
            )
        })
        .collect()
}

/// Returns the name by which a prompt mentions a command of a terminal.
pub(super) fn terminal_name(command: &str, id: &str) -> String {
    let plain = command.replace(['"', '#', '`'], " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let plain = printable(&words.join(" "), LineFeeds::Escape).into_owned();
    let plain = &plain[..plain.floor_char_boundary(MAX_COMMAND)];
    format!("{TERMINAL}:{} #{id}", plain.trim_end())
}

/// Returns the rows of `@problems:`: the files with problems whose path contains the query.
fn problem_rows(query: &str, files: &[(String, String)]) -> Vec<CompletionRow> {
    let query = query.to_lowercase();
    let found = files.iter().filter_map(|(path, numbers)| {
        let at = path.to_lowercase().find(&query)?;
        let matches = (at..at + query.len()).collect();
        let written = format!("{PROBLEMS}:{path}");
        Some(row(
            path,
            numbers,
            matches,
            CompletionKind::Problems,
            written,
        ))
    });
    found.collect()
}

/// Splits `src/a.rs:10-20` before the colon. Without lines the second part is empty.
fn split_lines(query: &str) -> (&str, &str) {
    let Some(at) = query.rfind(':') else {
        return (query, "");
    };
    let lines = &query[at + 1..];
    let is_range = lines.chars().all(|it| it.is_ascii_digit() || it == '-');
    if is_range {
        query.split_at(at)
    } else {
        (query, "")
    }
}

fn file_row(file: &FileMatch, lines: &str) -> CompletionRow {
    let name_at = file.path.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, name) = file.path.split_at(name_at);
    let matched = byte_offsets(&file.path, &file.matched).into_iter();
    let lines = if lines.len() > 1 { lines } else { "" };
    let recent = if file.is_recent { " \u{b7} recent" } else { "" };
    row(
        name,
        &format!("{}{recent}", folder.trim_end_matches('/')),
        matched.filter_map(|at| at.checked_sub(name_at)).collect(),
        CompletionKind::File,
        format!("{}{lines}", file.path),
    )
}

/// Returns the folders of the best files that match the query themselves.
fn folders(query: &str, files: &[FileMatch], cancel: &AtomicBool) -> Vec<CompletionRow> {
    let mut folders = BTreeSet::new();
    for file in files {
        let ends = file.path.match_indices('/').map(|(at, _)| at);
        folders.extend(ends.map(|at| file.path[..=at].to_owned()));
    }
    let folders: Vec<String> = folders.into_iter().collect();
    fuzzy::rank(query, &folders, CandidateKind::Path, MAX_FOLDERS, cancel)
        .into_iter()
        .filter_map(|ranked| folders.get(ranked.index))
        .map(|path| {
            let matched = fuzzy::positions(query, path, CandidateKind::Path);
            let matches = byte_offsets(path, &matched);
            row(
                path,
                "folder",
                matches,
                CompletionKind::Folder,
                path.clone(),
            )
        })
        .collect()
}

/// Returns symbols: those of the text by parts of their names, those of the index by name.
fn symbols(query: &str, names: &MentionNames, cancel: &AtomicBool) -> Vec<CompletionRow> {
    let mut rows = Vec::new();
    if let Some((text, syntax)) = &names.text {
        let outline: Vec<String> = syntax
            .shared_outline(text)
            .items()
            .into_iter()
            .map(|item| item.name)
            .collect();
        for ranked in fuzzy::rank(query, &outline, CandidateKind::Text, MAX_SYMBOLS, cancel) {
            let Some(name) = outline.get(ranked.index) else {
                continue;
            };
            let matched = fuzzy::positions(query, name, CandidateKind::Text);
            let matches = byte_offsets(name, &matched);
            let detail = "symbol of this file";
            rows.push(row(
                name,
                detail,
                matches,
                CompletionKind::Symbol,
                name.clone(),
            ));
        }
    }
    let hits = names
        .index
        .iter()
        .flat_map(|it| it.symbols(query, MAX_SYMBOLS));
    for hit in hits {
        let Some(name) = hit.symbol else { continue };
        if rows.iter().all(|row| row.written != name) {
            let place = format!("symbol in {}", path_text(&hit.path));
            let kind = CompletionKind::Symbol;
            rows.push(row(&name, &place, Vec::new(), kind, name.clone()));
        }
    }
    rows.truncate(MAX_SYMBOLS);
    rows
}

/// Creates a row. The matches are left out if the shown name differs from the name.
fn row(
    name: &str,
    detail: &str,
    matches: Vec<usize>,
    kind: CompletionKind,
    written: String,
) -> CompletionRow {
    let shown = printable(name, LineFeeds::Escape).into_owned();
    CompletionRow {
        matches: if shown == name { matches } else { Vec::new() },
        name: shown,
        detail: printable(detail, LineFeeds::Escape).into_owned(),
        kind,
        written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let files = ["docs/a.md", "src/cart.rs", "src/shop/cart_test.rs"];
        let names = MentionNames {
            files: Arc::new(files.map(str::to_owned).to_vec()),
            recent: vec!["src/shop/cart_test.rs".to_owned()],
            text: None,
            index: None,
            problems: [("src/cart.rs".to_owned(), "1 error".to_owned())].into(),
            terminals: vec![TerminalMention {
                id: "7-3".to_owned(),
                title: "shop".into(),
                command: "cargo  \"test\" #1".to_owned(),
                state: "exit code 0".to_owned(),
            }],
        };
        let rows = find(query, &names, &AtomicBool::new(false));
        let written: Vec<&str> = rows.iter().map(|row| row.written.as_str()).collect();
        assert_eq!(written, expected, "{query}");
    }

    #[test]
    fn files_come_before_folders_and_keep_their_lines() {
        check("", &["src/shop/cart_test.rs", "docs/a.md", "src/cart.rs"]);
        check("shop", &["src/shop/cart_test.rs", "src/shop/"]);
        check("docs/a", &["docs/a.md"]);
        check("docs/a.md:10-20", &["docs/a.md:10-20"]);
        check("docs/a.md:", &["docs/a.md"]);
        check("nothing", &[]);
        check("problems", &["problems:src/cart.rs"]);
        check("problems:CART", &["problems:src/cart.rs"]);
        check("prob", &["problems:src/cart.rs"]);
        check("problems:a.md", &[]);
        check("term", &["terminal:cargo test 1 #7-3"]);
        check("terminal:SHOP", &["terminal:cargo test 1 #7-3"]);
        check("terminal:make", &[]);
    }
}
