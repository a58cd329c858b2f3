//! Test notation for a text with carets: `ˇ` is a caret, `«` and `»` enclose a selection whose head
//! is at the end with a `ˇ`, or at `»` without one.
//!
//! Start at `check`; a `Fixture` has a language, other settings, folds or soft wrap.

use base::{ByteOffset, Span};
use display::{DisplayMap, DisplayOptions};
use syntax::{Budget, Language, ParseStatus, SyntaxTree, language_named};
use text::{Author, Buffer, EditOrigin, LineEnding, Selection, SelectionSet, Snapshot, Timestamp};

use crate::command::Command;
use crate::context::{CaretOptions, CaretPlan, CommandContext, CommandMemory};
use crate::motion;
use crate::plan::plan;

/// A text with carets and options, for testing commands. It plans and applies commands, and
/// compares the result.
pub(crate) struct Fixture {
    pub(crate) buffer: Buffer,
    pub(crate) selections: SelectionSet,
    pub(crate) options: CaretOptions,
    pub(crate) language: Option<Language>,
    pub(crate) wrap: Option<u32>,
    pub(crate) folds: Vec<Span>,
    pub(crate) memory: CommandMemory,
    /// Texts before each command, for comparing undo.
    pub(crate) texts: Vec<String>,
}

/// Runs a command on a plain text and compares text and carets.
#[track_caller]
pub(crate) fn check(before: &str, command: Command, after: &str) {
    Fixture::new(before).check(command, after);
}

impl Fixture {
    /// Creates a fixture from a text with marks for carets and selections, see `parse`.
    pub(crate) fn new(marked: &str) -> Self {
        let (text, selections) = parse(marked);
        let buffer = Buffer::new(&text);
        let selections = snap_to_graphemes(&buffer.snapshot(), &selections);
        Fixture {
            buffer,
            selections,
            options: CaretOptions {
                tab_width: 4,
                hard_tabs: false,
                auto_close: true,
                auto_surround: true,
                smart_indent: true,
                continue_comments: true,
                page_rows: 10,
            },
            language: None,
            wrap: None,
            folds: Vec::new(),
            memory: CommandMemory::default(),
            texts: Vec::new(),
        }
    }

    /// Sets the language by its name. Panics if the language is unknown.
    pub(crate) fn language(mut self, name: &str) -> Self {
        self.language = Some(language_named(name).expect("a known language"));
        self
    }

    /// Indents with tabs instead of spaces.
    pub(crate) fn hard_tabs(mut self) -> Self {
        self.options.hard_tabs = true;
        self
    }

    /// Wraps rows at this number of cells.
    pub(crate) fn wrap(mut self, cells: u32) -> Self {
        self.wrap = Some(cells);
        self
    }

    /// Folds the text between the first occurrences of the two given texts.
    pub(crate) fn fold(mut self, from: &str, to: &str) -> Self {
        let text = self.buffer.snapshot().to_string();
        let start = text.find(from).expect("the start of the fold");
        let end = text.find(to).expect("the end of the fold") + to.len();
        self.folds.push(Span::from(start..end));
        self
    }

    /// Calls `ask` with the context of the current state and returns the result of `ask`.
    pub(crate) fn with<T>(&self, ask: impl FnOnce(&CommandContext) -> T) -> T {
        let snapshot = self.buffer.snapshot();
        let options = DisplayOptions {
            tab_width: self.options.tab_width,
            wrap: self.wrap,
        };
        let mut map = DisplayMap::new(snapshot.clone(), options);
        map.fold(&self.folds);
        settle_wraps(&mut map);
        let display = map.snapshot();
        let tree = self.language.map(|language| {
            let mut tree = SyntaxTree::new(language);
            let status = tree.parse(&snapshot, &mut Budget::unlimited());
            let is_parsed = !matches!(status, ParseStatus::Pending(_));
            assert!(is_parsed, "parsing without a budget ends");
            tree.snapshot()
        });
        ask(&CommandContext {
            snapshot: &snapshot,
            selections: &self.selections,
            display: &display,
            syntax: tree.as_ref(),
            language: self.language.as_ref(),
            options: &self.options,
            line_ending: self.line_ending(),
            memory: &self.memory,
        })
    }

    fn line_ending(&self) -> LineEnding {
        if self.buffer.snapshot().to_string().contains("\r\n") {
            LineEnding::CrLf
        } else {
            LineEnding::Lf
        }
    }

    /// Plans a command in the current state.
    pub(crate) fn plan(&self, command: &Command) -> CaretPlan {
        self.with(|ctx| plan(command, ctx))
    }

    /// Plans and applies a command.
    pub(crate) fn run(&mut self, command: &Command) -> &mut Self {
        let plan = self.plan(command);
        self.apply(plan)
    }

    /// Applies a plan after checking the invariants of plans.
    pub(crate) fn apply(&mut self, plan: CaretPlan) -> &mut Self {
        let before = self.buffer.snapshot();
        let text = before.to_string();
        for pair in plan.edits.windows(2) {
            assert!(
                pair[0].span.end <= pair[1].span.start,
                "edits overlap: {pair:?}"
            );
        }
        let origin = EditOrigin::new(Author::User, plan.kind, Timestamp(0));
        let mut expected = text.clone();
        for edit in plan.edits.iter().rev() {
            expected.replace_range(edit.span.range(), &edit.text);
        }
        self.buffer.edit(&plan.edits, &origin);
        let after = self.buffer.snapshot();
        assert_eq!(after.to_string(), expected);
        self.texts.push(text);
        for selection in plan.selections.iter() {
            for offset in [selection.anchor, selection.head] {
                let is_border = expected.is_char_boundary(offset.0);
                assert!(
                    is_border,
                    "not on a character border: {offset:?} of {expected:?} after {:?} of {:?}",
                    plan.edits,
                    self.texts.last()
                );
            }
        }
        self.selections = snap_to_graphemes(&after, &plan.selections);
        self.memory = plan.memory;
        self
    }

    /// Runs a command and asserts that the marked text is `after`.
    #[track_caller]
    pub(crate) fn check(mut self, command: Command, after: &str) -> Self {
        self.run(&command);
        assert_eq!(self.marked(), after, "after {}", command.name());
        self
    }

    /// Returns the text with marks for its carets and selections.
    pub(crate) fn marked(&self) -> String {
        let mut text = self.buffer.snapshot().to_string();
        for selection in self.selections.as_slice().iter().rev() {
            let (start, end) = (selection.start().0, selection.end().0);
            if selection.is_empty() {
                text.insert(start, 'ˇ');
            } else if selection.is_reversed() {
                text.insert(end, '»');
                text.insert_str(start, "«ˇ");
            } else {
                text.insert_str(end, "ˇ»");
                text.insert(start, '«');
            }
        }
        text
    }
}

/// Runs all pending wrap jobs.
fn settle_wraps(map: &mut DisplayMap) {
    let never = std::sync::atomic::AtomicBool::new(false);
    while let Some(job) = map.wrap_job() {
        match job.run(&never) {
            Some(done) => {
                map.accept(done);
            }
            None => return,
        }
    }
}

/// Parses a marked text into text and selections: `ˇ` is a caret, `«` and `»` enclose a selection
/// with `ˇ` at its head. The last one is the newest.
pub(crate) fn parse(marked: &str) -> (String, SelectionSet) {
    let mut text = String::new();
    let mut selections = Vec::new();
    let mut open: Option<(usize, Option<usize>)> = None;
    for char in marked.chars() {
        match (char, &mut open) {
            ('«', _) => open = Some((text.len(), None)),
            ('ˇ', Some((_, head))) => *head = Some(text.len()),
            ('ˇ', None) => selections.push(Selection::caret(ByteOffset(text.len()))),
            ('»', Some((start, head))) => {
                let (start, end) = (*start, text.len());
                let is_reversed = *head == Some(start) && start != end;
                let (anchor, head) = if is_reversed {
                    (end, start)
                } else {
                    (start, end)
                };
                selections.push(Selection::new(ByteOffset(anchor), ByteOffset(head)));
                open = None;
            }
            _ => text.push(char),
        }
    }
    let primary = selections.len().saturating_sub(1);
    (text, SelectionSet::new(selections, primary))
}

/// Moves selections to grapheme borders, after edits that joined characters, such as a letter typed
/// before a combining mark.
fn snap_to_graphemes(snapshot: &Snapshot, selections: &SelectionSet) -> SelectionSet {
    let is_settled = |offset| motion::on_border(snapshot, offset) == offset;
    if selections
        .iter()
        .all(|selection| is_settled(selection.anchor) && is_settled(selection.head))
    {
        return selections.clone();
    }
    selections.transform(|selection| Selection {
        anchor: motion::border_behind(snapshot, selection.anchor),
        head: motion::border_behind(snapshot, selection.head),
        goal: selection.goal,
    })
}
