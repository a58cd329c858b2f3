//! Binary encoding of buffer operations.
//!
//! Invariant: a tag never changes its meaning: journals outlive versions.

use base::{ByteOffset, Span};
use text::{
    Author, BufferOperation, CheckpointId, Edit, EditKind, EditOrigin, LineEnding, NodeId,
    Selection, SelectionSet, Timestamp,
};

use super::bytes::{ByteReader, ByteWriter};

/// Appends an operation in the journal's encoding.
// tidy: table
pub(super) fn write(sink: &mut ByteWriter, operation: &BufferOperation) {
    match operation {
        BufferOperation::Edit { edits, origin } => {
            sink.tag(1);
            write_origin(sink, origin);
            sink.count(edits.len());
            for edit in edits {
                write_edit(sink, edit);
            }
        }
        BufferOperation::BeginStep => sink.tag(2),
        BufferOperation::EndStep => sink.tag(3),
        BufferOperation::SealStep => sink.tag(4),
        BufferOperation::Undo => sink.tag(5),
        BufferOperation::Redo => sink.tag(6),
        BufferOperation::UndoBy { author, at } => {
            sink.tag(7);
            write_author(sink, author);
            sink.number(at.0);
        }
        BufferOperation::GoTo(node) => {
            sink.tag(8);
            sink.number(node.0.into());
        }
        BufferOperation::Checkpoint { name } => {
            sink.tag(9);
            sink.string(name.as_bytes());
        }
        BufferOperation::Restore(checkpoint) => {
            sink.tag(10);
            sink.number(checkpoint.0.into());
        }
        BufferOperation::SelectionsBefore(selections) => {
            sink.tag(11);
            write_selections(sink, selections);
        }
        BufferOperation::SelectionsAfter(selections) => {
            sink.tag(12);
            write_selections(sink, selections);
        }
        BufferOperation::SetLineEnding(ending) => {
            sink.tag(13);
            sink.flag(*ending == LineEnding::CrLf);
        }
    }
}

/// Reads an operation; `None` for invalid bytes or an unknown tag.
// tidy: table
pub(super) fn read(source: &mut ByteReader<'_>) -> Option<BufferOperation> {
    Some(match source.tag()? {
        1 => BufferOperation::Edit {
            origin: read_origin(source)?,
            edits: source.list(read_edit)?,
        },
        2 => BufferOperation::BeginStep,
        3 => BufferOperation::EndStep,
        4 => BufferOperation::SealStep,
        5 => BufferOperation::Undo,
        6 => BufferOperation::Redo,
        7 => BufferOperation::UndoBy {
            author: read_author(source)?,
            at: Timestamp(source.number()?),
        },
        8 => BufferOperation::GoTo(NodeId(source.small()?)),
        9 => BufferOperation::Checkpoint {
            name: source.text()?.to_owned(),
        },
        10 => BufferOperation::Restore(CheckpointId(source.small()?)),
        11 => BufferOperation::SelectionsBefore(read_selections(source)?),
        12 => BufferOperation::SelectionsAfter(read_selections(source)?),
        13 => BufferOperation::SetLineEnding(if source.flag()? {
            LineEnding::CrLf
        } else {
            LineEnding::Lf
        }),
        _ => return None,
    })
}

/// Returns whether an operation refers to the undo tree, so that it needs everything before it.
pub(crate) fn needs_history(operation: &BufferOperation) -> bool {
    match operation {
        BufferOperation::Undo
        | BufferOperation::Redo
        | BufferOperation::UndoBy { .. }
        | BufferOperation::GoTo(_)
        | BufferOperation::Restore(_) => true,
        BufferOperation::Edit { .. }
        | BufferOperation::BeginStep
        | BufferOperation::EndStep
        | BufferOperation::SealStep
        | BufferOperation::Checkpoint { .. }
        | BufferOperation::SelectionsBefore(_)
        | BufferOperation::SelectionsAfter(_)
        | BufferOperation::SetLineEnding(_) => false,
    }
}

/// Returns roughly how many bytes of memory an operation takes.
pub(crate) fn weight(operation: &BufferOperation) -> usize {
    const SMALL: usize = 64;
    match operation {
        BufferOperation::Edit { edits, .. } => {
            edits
                .iter()
                .map(|edit| SMALL + edit.text.len())
                .sum::<usize>()
                + SMALL
        }
        BufferOperation::SelectionsBefore(selections)
        | BufferOperation::SelectionsAfter(selections) => SMALL * (1 + selections.len()),
        _ => SMALL,
    }
}

/// Appends a set of selections in the journal's encoding.
pub(super) fn write_selections(sink: &mut ByteWriter, selections: &SelectionSet) {
    sink.count(selections.len());
    for selection in selections.iter() {
        sink.count(selection.anchor.0);
        sink.count(selection.head.0);
        sink.number(selection.goal.map_or(0, |goal| u64::from(goal) + 1));
    }
    sink.count(selections.primary_ix());
}

/// Reads a set of selections; `None` for invalid bytes.
pub(super) fn read_selections(source: &mut ByteReader<'_>) -> Option<SelectionSet> {
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

fn write_edit(sink: &mut ByteWriter, edit: &Edit) {
    sink.count(edit.span.start.0);
    sink.count(edit.span.len());
    sink.string(edit.text.as_bytes());
}

/// Reads an edit, stored as start, length and new text. Returns `None` for invalid data; whether
/// the span lies in the text is not checked.
fn read_edit(source: &mut ByteReader<'_>) -> Option<Edit> {
    let start = read_offset(source)?;
    let length = usize::try_from(source.number()?).ok()?;
    let end = ByteOffset(start.0.checked_add(length)?);
    Some(Edit::new(Span::new(start, end), source.text()?))
}

/// Reads an offset in bytes. Returns `None` for invalid data.
fn read_offset(source: &mut ByteReader<'_>) -> Option<ByteOffset> {
    Some(ByteOffset(usize::try_from(source.number()?).ok()?))
}

fn write_origin(sink: &mut ByteWriter, origin: &EditOrigin) {
    write_author(sink, &origin.author);
    sink.tag(match origin.kind {
        EditKind::Typing => 1,
        EditKind::Deleting => 2,
        EditKind::Other => 3,
    });
    sink.number(origin.at.0);
}

/// Reads the origin of an edit: its author, kind and time. Returns `None` for invalid data.
fn read_origin(source: &mut ByteReader<'_>) -> Option<EditOrigin> {
    let author = read_author(source)?;
    let kind = match source.tag()? {
        1 => EditKind::Typing,
        2 => EditKind::Deleting,
        3 => EditKind::Other,
        _ => return None,
    };
    Some(EditOrigin::new(author, kind, Timestamp(source.number()?)))
}

fn write_author(sink: &mut ByteWriter, author: &Author) {
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

/// Reads an author. Returns `None` for invalid data or an unknown tag.
fn read_author(source: &mut ByteReader<'_>) -> Option<Author> {
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
