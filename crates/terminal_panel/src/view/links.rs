//! Links under the pointer while the link key is held: hyperlinks of the program, addresses, and paths that exist.
//!
//! Links are looked for only while the key is held, in the line under the pointer.

use base::AbsPath;
use gpui_kit::{Context, Modifiers, Task};
use terminal::{
    CellPosition, CellSpan, Emulator, LogicalLine, PathLink, TerminalLink, find_paths, find_urls,
    link_target,
};

use super::{TerminalView, TerminalViewEvent};
use crate::program::read_emulator;

/// Longer lines are not searched for links, in bytes.
const MAX_LINE: usize = 16 * 1024;

/// The link that a click would open.
#[derive(Default)]
pub(crate) struct HoveredLink {
    /// The cell under the pointer while the link key is held.
    at: Option<CellPosition>,
    found: Option<FoundLink>,
    /// The question whether a path exists.
    lookup: Option<Task<()>>,
}

/// A link in view.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundLink {
    spans: Vec<CellSpan>,
    pub(super) target: LinkTarget,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LinkTarget {
    Url(String),
    File {
        path: AbsPath,
        line: Option<u32>,
        column: Option<u32>,
    },
}

/// A link in the line under the pointer that may be opened.
enum LinkCandidate {
    Found(FoundLink),
    /// A path that may not exist, with the folder in which its command ran.
    Path {
        spans: Vec<CellSpan>,
        link: PathLink,
        folder: Option<AbsPath>,
    },
}

impl HoveredLink {
    /// Returns the cells to underline.
    pub(crate) fn spans(&self) -> &[CellSpan] {
        self.found.as_ref().map_or(&[], |found| &found.spans)
    }

    pub(super) fn target(&self) -> Option<&LinkTarget> {
        self.found.as_ref().map(|found| &found.target)
    }
}

/// Returns whether a click with these modifiers follows a link.
pub(super) fn follows_links(modifiers: &Modifiers, cx: &Context<TerminalView>) -> bool {
    modifiers.secondary(cx) && !modifiers.shift && !modifiers.alt
}

/// Looks for a link at a cell, or for none.
pub(super) fn hover_link(
    view: &mut TerminalView,
    at: Option<CellPosition>,
    cx: &mut Context<TerminalView>,
) {
    if view.link.at == at {
        return;
    }
    view.link.at = at;
    let is_inside = at.is_some_and(|at| view.link.spans().iter().any(|it| it.contains(at)));
    if is_inside {
        return;
    }
    view.link.lookup = None;
    let candidate = at.and_then(|at| link_candidate(view, at));
    match candidate {
        Some(LinkCandidate::Found(found)) => set_link(view, Some(found), cx),
        Some(LinkCandidate::Path {
            spans,
            link,
            folder,
        }) => {
            set_link(view, None, cx);
            look_up_path(view, spans, link, folder, cx);
        }
        None => set_link(view, None, cx),
    }
}

/// Ends the underline.
pub(super) fn end_link(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    hover_link(view, None, cx);
}

fn set_link(view: &mut TerminalView, found: Option<FoundLink>, cx: &mut Context<TerminalView>) {
    if view.link.found != found {
        view.link.found = found;
        cx.notify();
    }
}

fn link_candidate(view: &TerminalView, at: CellPosition) -> Option<LinkCandidate> {
    let host = view.service.host_name();
    let program = view.program()?;
    let read = |emulator: &mut Emulator| link_in(emulator, at, host.as_deref());
    read_emulator(&**program, read).flatten()
}

fn look_up_path(
    view: &mut TerminalView,
    spans: Vec<CellSpan>,
    link: PathLink,
    folder: Option<AbsPath>,
    cx: &mut Context<TerminalView>,
) {
    let paths = path_candidates(view, &link.path, folder);
    if paths.is_empty() {
        return;
    }
    let existing = view.service.existing_paths(paths.clone());
    view.link.lookup = Some(cx.spawn(async move |this, cx| {
        let existing = existing.await;
        let path = paths.into_iter().find(|path| existing.contains(path));
        let found = path.map(|path| FoundLink {
            spans,
            target: LinkTarget::File {
                path,
                line: link.line,
                column: link.column,
            },
        });
        // The view may be closed.
        this.update(cx, |this, cx| set_link(this, found, cx)).ok();
    }));
}

/// Returns the files that a path may mean, the most likely first.
fn path_candidates(view: &TerminalView, path: &str, folder: Option<AbsPath>) -> Vec<AbsPath> {
    if let Some(rest) = path.strip_prefix("~/") {
        let home = view.service.home_folder();
        return home.map(|home| home.join(rest)).into_iter().collect();
    }
    if path.starts_with('/') {
        return AbsPath::new(path).into_iter().collect();
    }
    let folders = [folder, view.folder(), view.request.folder.clone()];
    let mut paths = Vec::new();
    for folder in folders.into_iter().flatten() {
        let path = folder.join(path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Opens the link at a cell; returns false if there is none.
pub(super) fn follow_link(
    view: &mut TerminalView,
    at: CellPosition,
    cx: &mut Context<TerminalView>,
) -> bool {
    hover_link(view, Some(at), cx);
    let Some(found) = view.link.found.clone() else {
        return false;
    };
    if !found.spans.iter().any(|span| span.contains(at)) {
        return false;
    }
    cx.emit(match found.target {
        LinkTarget::Url(url) => TerminalViewEvent::OpenUrl(url),
        LinkTarget::File { path, line, column } => {
            TerminalViewEvent::OpenFile { path, line, column }
        }
    });
    true
}

fn link_in(emulator: &Emulator, at: CellPosition, host: Option<&str>) -> Option<LinkCandidate> {
    if let Some((uri, spans)) = emulator.hyperlink_at(at) {
        let target = match link_target(&uri, host)? {
            TerminalLink::Web(url) => LinkTarget::Url(url),
            TerminalLink::File(path) => LinkTarget::File {
                path,
                line: None,
                column: None,
            },
        };
        return Some(LinkCandidate::Found(FoundLink { spans, target }));
    }
    let line: LogicalLine = emulator.logical_line(at.line)?;
    let byte = line.byte_at(at)?;
    if line.text.len() > MAX_LINE {
        return None;
    }
    let url = find_urls(&line.text)
        .into_iter()
        .find(|it| it.span.contains(&byte));
    if let Some(url) = url {
        return Some(LinkCandidate::Found(FoundLink {
            spans: line.spans(url.span),
            target: LinkTarget::Url(url.url),
        }));
    }
    let link = find_paths(&line.text)
        .into_iter()
        .find(|it| it.span.contains(&byte))?;
    let command = emulator.commands().at(at.line);
    Some(LinkCandidate::Path {
        spans: line.spans(link.span.clone()),
        link,
        folder: command.and_then(|command| command.folder.clone()),
    })
}
