//! What changes a buffer, as bytes.
//!
//! Invariant: a tag once given never gets another meaning: journals outlive versions.

use base::{ByteOffset, Span};
use text::{
    Author, CheckpointId, Edit, EditKind, LineEnding, NodeId, Operation, Origin, Selection,
    SelectionSet, Timestamp,
};

use super::bytes::{Sink, Source};

// tidy: table
pub(super) fn write(sink: &mut Sink, operation: &Operation) {
    match operation {
        Operation::Edit { edits, origin } => {
            sink.tag(1);
            write_origin(sink, origin);
            sink.count(edits.len());
            for edit in edits {
                write_edit(sink, edit);
            }
        }
        Operation::BeginStep => sink.tag(2),
        Operation::EndStep => sink.tag(3),
        Operation::SealStep => sink.tag(4),
        Operation::Undo => sink.tag(5),
        Operation::Redo => sink.tag(6),
        Operation::UndoBy { author, at } => {
            sink.tag(7);
            write_author(sink, author);
            sink.number(at.0);
        }
        Operation::GoTo(node) => {
            sink.tag(8);
            sink.number(node.0.into());
        }
        Operation::Checkpoint { name } => {
            sink.tag(9);
            sink.string(name.as_bytes());
        }
        Operation::Restore(checkpoint) => {
            sink.tag(10);
            sink.number(checkpoint.0.into());
        }
        Operation::SelectionsBefore(selections) => {
            sink.tag(11);
            write_selections(sink, selections);
        }
        Operation::SelectionsAfter(selections) => {
            sink.tag(12);
            write_selections(sink, selections);
        }
        Operation::SetLineEnding(ending) => {
            sink.tag(13);
            sink.flag(*ending == LineEnding::CrLf);
        }
    }
}

// tidy: table
pub(super) fn read(source: &mut Source<'_>) -> Option<Operation> {
    Some(match source.tag()? {
        1 => Operation::Edit {
            origin: read_origin(source)?,
            edits: source.list(read_edit)?,
        },
        2 => Operation::BeginStep,
        3 => Operation::EndStep,
        4 => Operation::SealStep,
        5 => Operation::Undo,
        6 => Operation::Redo,
        7 => Operation::UndoBy {
            author: read_author(source)?,
            at: Timestamp(source.number()?),
        },
        8 => Operation::GoTo(NodeId(source.small()?)),
        9 => Operation::Checkpoint {
            name: source.text()?.to_owned(),
        },
        10 => Operation::Restore(CheckpointId(source.small()?)),
        11 => Operation::SelectionsBefore(read_selections(source)?),
        12 => Operation::SelectionsAfter(read_selections(source)?),
        13 => Operation::SetLineEnding(match source.flag()? {
            true => LineEnding::CrLf,
            false => LineEnding::Lf,
        }),
        _ => return None,
    })
}

/// Whether an operation means the undo tree and not the text, so that it makes no sense without
/// everything that came before.
pub(super) fn needs_history(operation: &Operation) -> bool {
    match operation {
        Operation::Undo
        | Operation::Redo
        | Operation::UndoBy { .. }
        | Operation::GoTo(_)
        | Operation::Restore(_) => true,
        Operation::Edit { .. }
        | Operation::BeginStep
        | Operation::EndStep
        | Operation::SealStep
        | Operation::Checkpoint { .. }
        | Operation::SelectionsBefore(_)
        | Operation::SelectionsAfter(_)
        | Operation::SetLineEnding(_) => false,
    }
}

/// Roughly how many bytes of memory an operation takes.
pub(super) fn weight(operation: &Operation) -> usize {
    const SMALL: usize = 64;
    match operation {
        Operation::Edit { edits, .. } => {
            edits
                .iter()
                .map(|edit| SMALL + edit.text.len())
                .sum::<usize>()
                + SMALL
        }
        Operation::SelectionsBefore(selections) | Operation::SelectionsAfter(selections) => {
            SMALL * (1 + selections.len())
        }
        _ => SMALL,
    }
}

pub(super) fn write_selections(sink: &mut Sink, selections: &SelectionSet) {
    sink.count(selections.len());
    for selection in selections.iter() {
        sink.count(selection.anchor.0);
        sink.count(selection.head.0);
        sink.number(selection.goal.map_or(0, |goal| u64::from(goal) + 1));
    }
    sink.count(selections.primary_ix());
}

pub(super) fn read_selections(source: &mut Source<'_>) -> Option<SelectionSet> {
    let selections = source.list(|source| {
        let mut selection = Selection::new(read_offset(source)?, read_offset(source)?);
        selection.goal = match source.number()?.checked_sub(1) {
            Some(goal) => Some(u32::try_from(goal).ok()?),
            None => None,
        };
        Some(selection)
    })?;
    let primary = usize::try_from(source.number()?).ok()?;
    (primary < selections.len()).then(|| SelectionSet::new(selections, primary))
}

fn write_edit(sink: &mut Sink, edit: &Edit) {
    sink.count(edit.span.start.0);
    sink.count(edit.span.len());
    sink.string(edit.text.as_bytes());
}

fn read_edit(source: &mut Source<'_>) -> Option<Edit> {
    let start = read_offset(source)?;
    let length = usize::try_from(source.number()?).ok()?;
    let end = ByteOffset(start.0.checked_add(length)?);
    Some(Edit::new(Span::new(start, end), source.text()?))
}

fn read_offset(source: &mut Source<'_>) -> Option<ByteOffset> {
    Some(ByteOffset(usize::try_from(source.number()?).ok()?))
}

fn write_origin(sink: &mut Sink, origin: &Origin) {
    write_author(sink, &origin.author);
    sink.tag(match origin.kind {
        EditKind::Typing => 1,
        EditKind::Deleting => 2,
        EditKind::Other => 3,
    });
    sink.number(origin.at.0);
}

fn read_origin(source: &mut Source<'_>) -> Option<Origin> {
    let author = read_author(source)?;
    let kind = match source.tag()? {
        1 => EditKind::Typing,
        2 => EditKind::Deleting,
        3 => EditKind::Other,
        _ => return None,
    };
    Some(Origin::new(author, kind, Timestamp(source.number()?)))
}

fn write_author(sink: &mut Sink, author: &Author) {
    match author {
        Author::User => sink.tag(1),
        Author::Agent { session, turn } => {
            sink.tag(2);
            sink.number(*session);
            sink.number((*turn).into());
        }
        Author::Formatter => sink.tag(3),
        Author::Shell => sink.tag(4),
        Author::Disk => sink.tag(5),
    }
}

fn read_author(source: &mut Source<'_>) -> Option<Author> {
    Some(match source.tag()? {
        1 => Author::User,
        2 => Author::Agent {
            session: source.number()?,
            turn: source.small()?,
        },
        3 => Author::Formatter,
        4 => Author::Shell,
        5 => Author::Disk,
        _ => return None,
    })
}
