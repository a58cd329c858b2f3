//! Every entry round-trips, and nothing else is read as an entry.

use base::{AbsPath, ByteOffset, Span};
use host::{ContentHash, OnDisk, Stamp};
use text::{
    Author, BufferOperation, CheckpointId, Edit, EditKind, EditOrigin, Encoding, FileFormat,
    LineEnding, LineEndings, NodeId, Selection, SelectionSet, Timestamp,
};

use super::{BaseText, JournalEntry, MAGIC, Meta, SavedAt, read_all, write};
use crate::document::DocumentKey;

fn meta(saved: Option<SavedAt>) -> Meta {
    Meta {
        key: DocumentKey(u64::MAX),
        path: AbsPath::new("/a/ä b"),
        format: FileFormat {
            encoding: Encoding::UTF_16LE,
            bom: true,
            line_endings: LineEndings::Mixed,
        },
        saved: saved.map(|at| {
            let stamp = Stamp {
                device: 1,
                inode: u64::MAX,
                mtime_ns: -5,
                size: 300,
            };
            let hash = ContentHash::of(b"x");
            (OnDisk { stamp, hash }, at)
        }),
    }
}

fn selections() -> SelectionSet {
    let mut one = Selection::new(ByteOffset(500), ByteOffset(3));
    one.goal = Some(0);
    SelectionSet::new(vec![Selection::caret(ByteOffset(1)), one], 1)
}

fn entries() -> Vec<JournalEntry> {
    let authors = [
        Author::User,
        Author::Agent {
            session: u64::MAX,
            turn: 3,
        },
        Author::Formatter,
        Author::Shell,
        Author::Disk,
    ];
    let kinds = [EditKind::Typing, EditKind::Deleting, EditKind::Other];
    let mut operations: Vec<_> = authors
        .iter()
        .flat_map(|author| kinds.map(|kind| EditOrigin::new(*author, kind, Timestamp(1 << 40))))
        .map(|origin| BufferOperation::Edit {
            edits: vec![
                Edit::new(Span::new(ByteOffset(3), ByteOffset(300)), "ä\r\n"),
                Edit::new(Span::at(ByteOffset(1 << 33)), ""),
            ],
            origin,
        })
        .collect();
    operations.extend([
        BufferOperation::BeginStep,
        BufferOperation::EndStep,
        BufferOperation::SealStep,
        BufferOperation::Undo,
        BufferOperation::Redo,
        BufferOperation::UndoBy {
            author: Author::Shell,
            at: Timestamp(0),
        },
        BufferOperation::GoTo(NodeId(u32::MAX)),
        BufferOperation::Checkpoint {
            name: "before the agent".into(),
        },
        BufferOperation::Restore(CheckpointId(7)),
        BufferOperation::SelectionsBefore(selections()),
        BufferOperation::SelectionsAfter(selections()),
        BufferOperation::SetLineEnding(LineEnding::CrLf),
        BufferOperation::SetLineEnding(LineEnding::Lf),
    ]);
    vec![
        JournalEntry::Start {
            base: BaseText::Text("text\n".into()),
            meta: meta(None),
        },
        JournalEntry::Start {
            base: BaseText::File(ContentHash(u128::MAX - 1)),
            meta: Meta {
                path: None,
                ..meta(Some(SavedAt::Here))
            },
        },
        JournalEntry::Operations {
            operations,
            length: 12,
        },
        JournalEntry::Selections(selections()),
        JournalEntry::Meta(meta(Some(SavedAt::Node(NodeId(5))))),
        JournalEntry::Meta(meta(Some(SavedAt::Elsewhere))),
    ]
}

fn journal() -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for entry in entries() {
        write(&mut bytes, &entry);
    }
    bytes
}

#[test]
fn every_entry_round_trips() {
    let bytes = journal();
    assert_eq!(read_all(&bytes), Some((entries(), bytes.len())));
}

#[test]
fn truncated_journals_yield_the_complete_entries() {
    let bytes = journal();
    let all = entries();
    for length in 0..bytes.len() {
        match read_all(&bytes[..length]) {
            None => assert!(length < MAGIC.len()),
            Some((entries, valid)) => {
                assert!(valid <= length);
                assert_eq!(entries, all[..entries.len()]);
            }
        }
    }
}

#[test]
fn flipped_bit_ends_reading() {
    let bytes = journal();
    let all = entries();
    for place in MAGIC.len()..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[place] ^= 1 << (place % 8);
        let (entries, valid) = read_all(&wrong).expect("the magic is whole");
        assert!(valid <= place, "byte {place}");
        assert_eq!(entries, all[..entries.len()]);
    }
}

#[test]
fn invalid_payloads_are_rejected() {
    // Payloads with a valid checksum and random content neither panic nor use much memory.
    let mut seed = 9_u64;
    for round in 0..20_000_usize {
        let payload: Vec<u8> = (0..round % 60)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let byte = (seed >> 40) as u8;
                if byte & 1 == 0 { byte >> 4 } else { byte }
            })
            .collect();
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        bytes.extend_from_slice(&payload);
        assert!(read_all(&bytes).is_some());
    }
}
