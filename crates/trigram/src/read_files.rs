//! Reads files into segments on a few threads and in bounded memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use host::{BulkStat, FileVersion};

use super::file_table::{ContentState, FileTable, OpenSegment};
use super::gram::Collector;
use super::segment::{Pairs, SegmentSink, TrigramSegment, WriteError};

/// Number of reading threads.
const THREADS: usize = 2;
/// Number of pairs, of 8 bytes each, that a thread collects before it writes a segment.
const PAIRS: usize = 4 << 20;
/// Number of files that a thread takes at a time.
const BATCH: usize = 128;
/// Number of bytes read at a time.
const PIECE: usize = 256 << 10;

/// Stores the segments created here.
pub(super) trait SegmentStore: Sync {
    /// Allocates a segment for this many pairs; returns its number if it is on disk.
    fn allocate(&self, pairs: usize) -> Result<(SegmentSink, Option<u64>), host::Error>;
    /// Opens the segment that was written.
    fn finish(&self, sink: SegmentSink, number: Option<u64>) -> Result<TrigramSegment, WriteError>;
}

/// The result of reading a file: its index and its content.
type Finding = (usize, ContentState);

/// Reads the files with these indices and stores their contents in `table`. Files that change
/// meanwhile, or changed just before, stay unread. If cancelled, keeps what was read so far.
pub(super) fn read(
    bulk_stat: &BulkStat,
    table: &mut FileTable,
    files: &[usize],
    segment_store: &dyn SegmentStore,
    cancel: &AtomicBool,
) -> Result<(), WriteError> {
    let done = Mutex::new((Vec::new(), Vec::new()));
    let reading = ReadJob {
        bulk_stat,
        table,
        files,
        segment_store,
        cancel,
        next: AtomicUsize::new(0),
        base: table.segments.len(),
        done: &done,
    };
    let threads = THREADS.min(files.len().div_ceil(BATCH));
    let result = thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .filter_map(|_| {
                let builder = thread::Builder::new().name("trigrams".to_owned());
                builder.spawn_scoped(scope, || reading.work()).ok()
            })
            .collect();
        let mut result = reading.work();
        for other in others {
            let ended = other.join().unwrap_or(Err(WriteError::Torn));
            result = result.and(ended);
        }
        result
    });
    let (findings, segments) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    table.segments.extend(segments);
    for (ix, content) in findings {
        table.files[ix].content = content;
    }
    result
}

struct ReadJob<'a> {
    bulk_stat: &'a BulkStat,
    table: &'a FileTable,
    files: &'a [usize],
    segment_store: &'a dyn SegmentStore,
    cancel: &'a AtomicBool,
    /// The index of the next file to take.
    next: AtomicUsize,
    /// The number of earlier segments.
    base: usize,
    done: &'a Mutex<(Vec<Finding>, Vec<OpenSegment>)>,
}

/// The working state of one thread.
struct Worker {
    collector: Collector,
    pairs: Pairs,
    buffer: Vec<u8>,
    /// The files of `pairs`: index, version, number in the future segment.
    waiting: Vec<(usize, FileVersion, u32)>,
    findings: Vec<Finding>,
}

impl ReadJob<'_> {
    /// Reads batches of files until none is left or the job is cancelled, and writes full segments.
    /// Returns an error if a segment cannot be written.
    fn work(&self) -> Result<(), WriteError> {
        let mut worker = Worker {
            collector: Collector::new(),
            pairs: Pairs::new(),
            buffer: vec![0; PIECE],
            waiting: Vec::new(),
            findings: Vec::new(),
        };
        while !self.cancel.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let last = self.files.len().min(first + BATCH);
            if first >= last {
                break;
            }
            for ix in &self.files[first..last] {
                self.file(*ix, &mut worker);
                if worker.pairs.len() >= PAIRS {
                    self.write(&mut worker)?;
                }
            }
        }
        self.write(&mut worker)
    }

    fn file(&self, ix: usize, worker: &mut Worker) {
        let path = self.table.path(self.table.files[ix].name);
        let began = self.bulk_stat.now();
        let Some((mark, form)) = worker.inspect(self.bulk_stat, path) else {
            return worker.collector.take(|_| {});
        };
        // A change within the same clock tick could not be distinguished from this version.
        if !mark.is_settled_before(began) {
            return worker.collector.take(|_| {});
        }
        match form {
            TextForm::Text => {
                let number = worker.pairs.next_file();
                worker.collector.take(|gram| worker.pairs.add(gram));
                worker.waiting.push((ix, mark, number));
            }
            TextForm::Binary => {
                worker.collector.take(|_| {});
                worker.findings.push((ix, ContentState::Binary(mark)));
            }
            TextForm::Opaque => {
                worker.collector.take(|_| {});
                worker.findings.push((ix, ContentState::Opaque(mark)));
            }
        }
    }

    /// Writes a segment with the collected pairs.
    fn write(&self, worker: &mut Worker) -> Result<(), WriteError> {
        let mut made = None;
        if worker.pairs.files() > 0 {
            let (sink, number) = self.segment_store.allocate(worker.pairs.len())?;
            let sink = worker.pairs.write(sink)?;
            let segment = Arc::new(self.segment_store.finish(sink, number)?);
            made = Some(OpenSegment { segment, number });
        }
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (findings, segments) = &mut *done;
        findings.append(&mut worker.findings);
        let Some(held) = made else {
            return Ok(());
        };
        let segment =
            u32::try_from(self.base + segments.len()).map_err(|_| WriteError::TooLarge)?;
        segments.push(held);
        findings.extend(worker.waiting.drain(..).map(|(ix, mark, file)| {
            let content = ContentState::Grams {
                mark,
                segment,
                file,
            };
            (ix, content)
        }));
        Ok(())
    }
}

/// The way a file is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextForm {
    /// UTF-8, searched as it is stored.
    Text,
    /// Binary, skipped by searches.
    Binary,
    /// A search decodes it, or its first bytes do not determine its kind.
    Opaque,
}

impl Worker {
    /// Reads a file, collecting its trigrams while it is text. Returns its version and the way it
    /// is searched; `None` if it cannot be read.
    fn inspect(&mut self, bulk_stat: &BulkStat, path: &Path) -> Option<(FileVersion, TextForm)> {
        /// At least the number of bytes that decide whether a file is binary.
        const HEAD: usize = 32 << 10;
        let (mut form, mut first) = (TextForm::Text, None);
        let mut utf8 = Utf8::default();
        let collector = &mut self.collector;
        let mark = bulk_stat.read(path, &mut self.buffer, &mut |piece| {
            if first.is_none() && text::looks_binary(piece) {
                form = TextForm::Binary;
            }
            first.get_or_insert(piece.len());
            if form == TextForm::Binary {
                return false;
            }
            if piece.contains(&0) || !utf8.takes(piece) {
                form = TextForm::Opaque;
                return false;
            }
            collector.feed(piece);
            true
        });
        let mark = mark.ok()?;
        let has_head = first.is_some_and(|first| first >= HEAD || first as u64 == mark.size);
        let is_known = match form {
            TextForm::Text => utf8.is_whole(),
            // A read may return less than is available.
            TextForm::Binary => has_head,
            TextForm::Opaque => true,
        };
        Some((mark, if is_known { form } else { TextForm::Opaque }))
    }
}

/// Checks whether pieces form valid UTF-8.
#[derive(Default)]
struct Utf8 {
    /// The beginning of a char that ends in the next piece.
    begun: Vec<u8>,
}

impl Utf8 {
    /// Adds a piece; returns whether the text so far may be valid UTF-8.
    fn takes(&mut self, mut piece: &[u8]) -> bool {
        while let (false, Some((first, rest))) = (self.begun.is_empty(), piece.split_first()) {
            self.begun.push(*first);
            piece = rest;
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => true,
            Err(error) => {
                self.begun.extend_from_slice(&piece[error.valid_up_to()..]);
                error.error_len().is_none()
            }
        }
    }

    /// Whether the text does not end within a char.
    fn is_whole(&self) -> bool {
        self.begun.is_empty()
    }
}
