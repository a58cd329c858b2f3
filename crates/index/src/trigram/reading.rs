//! Reading files into segments, on a few threads and in bounded memory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use host::{Mark, Survey};

use super::gram::Collector;
use super::known::{Content, Held, Known};
use super::segment::{Pairs, Segment, Sink, WriteError};

/// Threads that read.
const THREADS: usize = 2;
/// Pairs that a thread gathers before it writes a segment, 8 bytes each.
const PAIRS: usize = 4 << 20;
/// Files that a thread takes at a time.
const BATCH: usize = 128;
/// Bytes read at a time.
const PIECE: usize = 256 << 10;

/// Where segments are put that are made here.
pub(super) trait Shelf: Sync {
    /// A place for a segment of so many pairs, and its number if it is one on the disk.
    fn place(&self, pairs: usize) -> Result<(Sink, Option<u64>), host::Error>;
    /// The segment that was written there.
    fn take(&self, sink: Sink, number: Option<u64>) -> Result<Segment, WriteError>;
}

/// What was found out about a file: its number, how it looked, and what it holds.
type Finding = (usize, Content);

/// Reads the files with these numbers and puts what they hold into `known`. Files that change meanwhile, or changed just
/// before, stay unread. Cancelled, it keeps what was read so far.
pub(super) fn read(
    survey: &Survey,
    known: &mut Known,
    files: &[usize],
    shelf: &dyn Shelf,
    cancel: &AtomicBool,
) -> Result<(), WriteError> {
    let done = Mutex::new((Vec::new(), Vec::new()));
    let reading = Reading {
        survey,
        known,
        files,
        shelf,
        cancel,
        next: AtomicUsize::new(0),
        base: known.segments.len(),
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
    known.segments.extend(segments);
    for (ix, content) in findings {
        known.files[ix].content = content;
    }
    result
}

struct Reading<'a> {
    survey: &'a Survey,
    known: &'a Known,
    files: &'a [usize],
    shelf: &'a dyn Shelf,
    cancel: &'a AtomicBool,
    /// The first file that nobody took yet.
    next: AtomicUsize,
    /// How many segments there were before.
    base: usize,
    done: &'a Mutex<(Vec<Finding>, Vec<Held>)>,
}

/// What one thread has in its hands.
struct Worker {
    collector: Collector,
    pairs: Pairs,
    buffer: Vec<u8>,
    /// Files of `pairs`: number, mark, number in the segment to be.
    waiting: Vec<(usize, Mark, u32)>,
    findings: Vec<Finding>,
}

impl Reading<'_> {
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
        let path = self.known.path(self.known.files[ix].name);
        let began = self.survey.moment();
        let Some((mark, form)) = worker.look_into(self.survey, path) else {
            return worker.collector.take(|_| {});
        };
        // A change in the same tick could not be told from this reading.
        if !mark.is_settled_before(began) {
            return worker.collector.take(|_| {});
        }
        match form {
            Form::Text => {
                let number = worker.pairs.next_file();
                worker.collector.take(|gram| worker.pairs.add(gram));
                worker.waiting.push((ix, mark, number));
            }
            Form::Binary => {
                worker.collector.take(|_| {});
                worker.findings.push((ix, Content::Binary(mark)));
            }
            Form::Opaque => {
                worker.collector.take(|_| {});
                worker.findings.push((ix, Content::Opaque(mark)));
            }
        }
    }

    /// Makes a segment of what was gathered.
    fn write(&self, worker: &mut Worker) -> Result<(), WriteError> {
        let mut made = None;
        if worker.pairs.files() > 0 {
            let (sink, number) = self.shelf.place(worker.pairs.len())?;
            let sink = worker.pairs.write(sink)?;
            let segment = Arc::new(self.shelf.take(sink, number)?);
            made = Some(Held { segment, number });
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
            let content = Content::Grams {
                mark,
                segment,
                file,
            };
            (ix, content)
        }));
        Ok(())
    }
}

/// How a file is searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// UTF-8, which is searched as it is stored.
    Text,
    /// A search leaves it out.
    Binary,
    /// A search decodes it, or does not tell by its first bytes what it is.
    Opaque,
}

impl Worker {
    fn look_into(&mut self, survey: &Survey, path: &Path) -> Option<(Mark, Form)> {
        /// No less than decides whether a file is binary.
        const HEAD: usize = 32 << 10;
        let (mut form, mut first) = (Form::Text, None);
        let mut utf8 = Utf8::default();
        let collector = &mut self.collector;
        let mark = survey.read(path, &mut self.buffer, &mut |piece| {
            if first.is_none() && text::looks_binary(piece) {
                form = Form::Binary;
            }
            first.get_or_insert(piece.len());
            if form == Form::Binary {
                return false;
            }
            if piece.contains(&0) || !utf8.takes(piece) {
                form = Form::Opaque;
                return false;
            }
            collector.feed(piece);
            true
        });
        let mark = mark.ok()?;
        let has_head = first.is_some_and(|first| first >= HEAD || first as u64 == mark.size);
        let is_told = match form {
            Form::Text => utf8.is_whole(),
            // A read may give less than there is.
            Form::Binary => has_head,
            Form::Opaque => true,
        };
        Some((mark, if is_told { form } else { Form::Opaque }))
    }
}

/// Tells whether pieces make up UTF-8.
#[derive(Default)]
struct Utf8 {
    /// The beginning of a char whose end is in the next piece.
    begun: Vec<u8>,
}

impl Utf8 {
    /// Takes the next piece; whether all so far may be the beginning of UTF-8.
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

    fn is_whole(&self) -> bool {
        self.begun.is_empty()
    }
}
