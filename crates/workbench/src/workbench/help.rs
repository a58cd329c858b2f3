//! Help: pages of the guide, notes about crashes, reports for an issue.
//!
//! Invariant: nothing is sent. What the user copies was redacted.

use base::AbsPath;
use crash_report::{CrashNotes, NoteEnd, ProgramVersion, Redaction, StoredNote};
use gpui_kit::{
    AppContext as _, ClipboardItem, Context, Div, InteractiveElement as _, Stateful, Window,
};
use guide::GuidePage;
use host::{Error, Files};
use project::Document;
use text::{EditKind, EditOrigin, Timestamp};
use ui::Tone;

use super::Workbench;
use crate::actions::help::{CopyCrashReport, OpenIssues, ReportIssue, SearchDocs};
use crate::documents::Documents;
use crate::notices::Notice;
use crate::open_options::{GoToPosition, OpenOptions};
use crate::pickers::guide::GuidePicker;
use crate::target::LineColumn;

/// The page on which problems are reported, as in `Cargo.toml`.
const ISSUES: &str = "https://github.com/burin-editor/burin/issues";
/// The program with a window.
const PROGRAM: ProgramVersion = ProgramVersion {
    name: "burin",
    version: env!("CARGO_PKG_VERSION"),
};
/// A page is at most this long, in bytes.
const MAX_PAGE_BYTES: u64 = 1 << 20;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(search_docs))
        .on_action(cx.listener(copy_crash_report))
        .on_action(cx.listener(report_issue))
        .on_action(cx.listener(open_issues))
}

fn search_docs(
    workbench: &mut Workbench,
    _: &SearchDocs,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let picker = GuidePicker::new(cx.weak_entity());
    workbench.pick(picker, window, cx);
}

/// Opens a page of the guide at a row, from a copy in the cache folder.
pub(crate) fn open_page(
    workbench: &mut Workbench,
    page: &'static GuidePage,
    row: u32,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let files = workbench.services.files.clone();
    let folder = workbench.services.dirs.cache.join("guide");
    let path = folder.join(format!("{}.md", page.name));
    let writing = cx.background_spawn(async move { write_guide(files.as_ref(), &folder) });
    cx.spawn_in(window, async move |this, cx| {
        let written = writing.await;
        let shown = this.update_in(cx, |this, window, cx| match written {
            Ok(()) => {
                let place = LineColumn {
                    line: row + 1,
                    column: 1,
                };
                let position = Some(GoToPosition::Place(place));
                this.open_path(path, OpenOptions::lasting().at(position), window, cx);
            }
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Writes the pages that the folder lacks, or has from another version, so that links between them lead somewhere.
fn write_guide(files: &dyn Files, folder: &AbsPath) -> Result<(), Error> {
    files.create_folder(folder)?;
    for page in GuidePage::all() {
        let path = folder.join(format!("{}.md", page.name));
        let text = page.text.as_bytes();
        let is_same = files
            .read(&path, MAX_PAGE_BYTES)
            .is_ok_and(|old| old == text);
        if !is_same {
            files.write_private(&path, text)?;
        }
    }
    Ok(())
}

/// Reports the notes about crashes that the user has not seen, in one notification.
pub(crate) fn show_crashes(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notes = notes(workbench);
    let reader = notes.clone();
    let reading = cx.background_spawn(async move { reader.unseen() });
    cx.spawn_in(window, async move |this, cx| {
        let unseen = reading.await;
        let shown = this.update_in(cx, |this, window, cx| {
            if let Some(sentence) = crash_sentence(&unseen) {
                let notice = Notice::new(Tone::Warning, sentence)
                    .key("crash")
                    .action("Copy Report", CopyCrashReport);
                this.report(notice, window, cx);
            }
        });
        if shown.is_err() {
            // The window was closed: the next start shows them.
            return;
        }
        let marking = cx.background_spawn(async move { notes.mark_seen(&unseen) });
        if let Err(failure) = marking.await {
            let told = this.update_in(cx, |this, window, cx| {
                this.report_error(failure.to_string(), window, cx);
            });
            // The window may have been closed.
            told.ok();
        }
    })
    .detach();
}

fn notes(workbench: &Workbench) -> CrashNotes {
    let services = &workbench.services;
    CrashNotes::new(services.files.clone(), services.dirs.crashes())
}

/// Returns a sentence about unseen notes, of which the newest comes first; `None` if there is none.
fn crash_sentence(unseen: &[StoredNote]) -> Option<String> {
    let (first, others) = unseen.split_first()?;
    let Some(note) = &first.note else {
        let path = first.path.printable();
        return Some(format!("A newer Burin left a note about a crash: {path}"));
    };
    let (program, place) = (&note.program, &note.place);
    let happened = match first.end {
        NoteEnd::Crashed => format!("{program} crashed at {place}."),
        NoteEnd::WentOn => format!("{program} had an internal error at {place} and went on."),
    };
    let more = match others.len() {
        0 => String::new(),
        1 => " There is one more note.".to_owned(),
        count => format!(" There are {count} more notes."),
    };
    Some(format!("{happened}{more} Nothing was sent."))
}

fn copy_crash_report(
    workbench: &mut Workbench,
    _: &CopyCrashReport,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notes = notes(workbench);
    let reading = cx.background_spawn(async move {
        let note = notes.newest();
        note.map(|note| note.report(&Redaction::of_this_user()))
    });
    cx.spawn_in(window, async move |this, cx| {
        let report = reading.await;
        let copied = this.update_in(cx, |this, window, cx| {
            let sentence = match report {
                Some(report) => {
                    cx.write_to_clipboard(ClipboardItem::new_string(report));
                    "The redacted report is on the clipboard. Read it before you share it: private words outside quotes may remain."
                }
                None => "No crash was recorded.",
            };
            this.tell("crash", sentence, window, cx);
        });
        // The window may have been closed.
        copied.ok();
    })
    .detach();
}

/// Opens a text with what an issue needs.
fn report_issue(
    workbench: &mut Workbench,
    _: &ReportIssue,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notes = notes(workbench);
    let facts = workbench.services.facts.clone();
    let gathering = cx.background_spawn(async move {
        let facts = facts.map(|facts| facts()).unwrap_or_default();
        let (crash, redaction) = (notes.newest(), Redaction::of_this_user());
        crash_report::issue_report(&PROGRAM, &facts, crash.as_ref(), &redaction)
    });
    cx.spawn_in(window, async move |this, cx| {
        let report = gathering.await;
        let shown = this.update_in(cx, |this, window, cx| {
            show_report(this, &report, window, cx);
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

fn show_report(
    workbench: &mut Workbench,
    report: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let at = Timestamp(workbench.services.clock.wall_ms());
    let origin = EditOrigin::new(text::Author::User, EditKind::Other, at);
    let mut document = Document::untitled();
    document
        .buffer_mut()
        .replace(base::Span::default(), report, &origin);
    let document = Documents::add(document, cx);
    document.update(cx, |document, cx| {
        document.set_language(syntax::language_named("markdown"), cx);
    });
    let pane = workbench.layout.active_pane();
    workbench.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
    let sentence = "Describe the problem, read the rest, and copy the text into an issue. Nothing is sent by itself.";
    let notice = Notice::new(Tone::Info, sentence)
        .key("issue")
        .action("Open Issues", OpenIssues);
    workbench.report(notice, window, cx);
}

fn open_issues(_: &mut Workbench, _: &OpenIssues, _: &mut Window, cx: &mut Context<Workbench>) {
    cx.open_url(ISSUES);
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use crash_report::{CrashNote, NoteEnd, StoredNote};

    use super::crash_sentence;

    fn stored(end: NoteEnd, place: Option<&str>) -> StoredNote {
        let note = place.map(|place| CrashNote {
            program: "burin 1.2.3".to_owned(),
            place: place.to_owned(),
            ..CrashNote::default()
        });
        let path = AbsPath::new("/s/crashes/1-2-0.crash").expect("absolute");
        StoredNote { path, end, note }
    }

    #[test]
    fn the_newest_note_is_named_and_the_others_are_counted() {
        let check = |unseen: &[StoredNote], expected: Option<&str>| {
            assert_eq!(crash_sentence(unseen).as_deref(), expected);
        };
        let crashed = stored(NoteEnd::Crashed, Some("a.rs:1:2"));
        let went_on = stored(NoteEnd::WentOn, Some("b.rs:3:4"));
        check(&[], None);
        check(
            std::slice::from_ref(&crashed),
            Some("burin 1.2.3 crashed at a.rs:1:2. Nothing was sent."),
        );
        check(
            &[went_on.clone(), crashed.clone()],
            Some(
                "burin 1.2.3 had an internal error at b.rs:3:4 and went on. There is one more note. \
                 Nothing was sent.",
            ),
        );
        let newer = stored(NoteEnd::Crashed, None);
        check(
            &[newer, crashed, went_on],
            Some("A newer Burin left a note about a crash: /s/crashes/1-2-0.crash"),
        );
    }
}
