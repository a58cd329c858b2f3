//! The tokens of a project, so arranged that what once followed the like of a context is found in microseconds.
//!
//! Must not know: where files are, what a suggestion is. Files come and go by `put` and `remove`; what they hold lies
//! in segments that never change and are merged as they grow in number, so that keeping up with a saved file costs as
//! much as that file. `put`, `compact` and `view` are for a background thread; a view is for any.
//! Invariant: a view answers from the files as they were when it was taken.
//! Limitations: memory is some 8 bytes a token; `compact` keeps it below what it is told, `DEFAULT_BYTES` for want of
//! something better, by forgetting the files that were put first. Words are never forgotten.

mod segment;
pub(crate) mod stream;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::AbsPath;

use segment::Segment;
use stream::{FIRST_WORD, Item, UNKNOWN, items};
use words::Words;

/// The memory that a corpus may take unless told otherwise, in bytes: some 14 million tokens.
pub const DEFAULT_BYTES: usize = 128 * 1024 * 1024;

/// Larger files are data rather than something to learn from.
const MOST_FILE_BYTES: usize = 512 * 1024;

/// Files with longer lines in the mean were written by a program.
const MOST_MEAN_LINE: usize = 200;

/// A segment of more tokens is not merged with others.
const MOST_SEGMENT: usize = 2 << 20;

/// Tokens of open files that are gone through for how they are spelt: some ten of a thousand lines.
const MOST_SPELT: usize = 100_000;

/// So many segments of about one size become one.
const MOST_ALIKE: usize = 6;

/// The tokens of a project while files come and go.
pub struct Corpus {
    words: Words,
    /// The oldest first.
    segments: Vec<Part>,
    pending: Vec<(AbsPath, Vec<Item>)>,
    pending_tokens: usize,
    /// The segment, or none for pending files, and the number within it.
    files: HashMap<AbsPath, Option<(u64, usize)>>,
    next: u64,
}

/// A segment and which of its files still count.
#[derive(Clone)]
struct Part {
    id: u64,
    segment: Arc<Segment>,
    gone: Arc<Vec<bool>>,
    /// Tokens of files that still count.
    alive: usize,
}

/// The tokens of a project at one moment. Cheap to clone through its `Arc`.
pub struct CorpusView {
    words: Words,
    parts: Vec<Part>,
}

/// A place in a view that something follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    part: usize,
    place: usize,
    /// How many words before it are the same as in the context asked for.
    pub(crate) length: usize,
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

impl Corpus {
    /// A corpus of no files.
    pub fn new() -> Self {
        let mut words = Words::default();
        // The first numbers have a meaning of their own; control characters are no tokens of texts.
        for reserved in ["\0", "\n", "\u{1}"] {
            words.intern(reserved);
        }
        Self {
            words,
            segments: Vec::new(),
            pending: Vec::new(),
            pending_tokens: 0,
            files: HashMap::new(),
            next: 0,
        }
    }

    /// Takes in a file, or what it holds now. Files that no person wrote are left out.
    pub fn put(&mut self, path: &AbsPath, text: &str) {
        self.remove(path);
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        if text.len() > MOST_FILE_BYTES || text.len() / lines > MOST_MEAN_LINE {
            return;
        }
        let words = &mut self.words;
        let items = items(text, |word| words.intern(word).unwrap_or(UNKNOWN));
        self.pending_tokens += items.len();
        self.pending.push((path.clone(), items));
        self.files.insert(path.clone(), None);
        if self.pending_tokens >= MOST_SEGMENT {
            self.flush();
        }
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &AbsPath) {
        match self.files.remove(path) {
            Some(Some((segment, file))) => {
                let part = self.segments.iter_mut().find(|part| part.id == segment);
                if let Some(part) = part {
                    part.forget(file);
                }
            }
            Some(None) => {
                self.pending.retain(|(pending, _)| pending != path);
                self.pending_tokens = self.pending.iter().map(|(_, items)| items.len()).sum();
            }
            None => {}
        }
    }

    /// The files it knows.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The tokens of the files it knows.
    pub fn token_count(&self) -> usize {
        self.pending_tokens + self.segments.iter().map(|part| part.alive).sum::<usize>()
    }

    /// The memory it takes, in bytes, without pending files.
    pub fn bytes(&self) -> usize {
        let parts: usize = self.segments.iter().map(|part| part.segment.bytes()).sum();
        parts + self.words.bytes()
    }

    /// Merges what can be merged and forgets the oldest files until no more than `budget` bytes are taken.
    pub fn compact(&mut self, budget: usize) {
        self.flush();
        while self.bytes() > budget && !self.segments.is_empty() {
            let oldest = self.segments.remove(0);
            for (file, span) in oldest.segment.files().iter().enumerate() {
                if !oldest.is_gone(file) {
                    self.files.remove(&span.path);
                }
            }
        }
    }

    /// What it holds now.
    pub fn view(&mut self) -> Arc<CorpusView> {
        self.flush();
        Arc::new(CorpusView {
            words: self.words.clone(),
            parts: self.segments.clone(),
        })
    }

    /// Brings pending files into a segment and keeps the number of segments low.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let files = std::mem::take(&mut self.pending);
            self.pending_tokens = 0;
            self.push(files);
        }
        while let Some(merged) = self.worth_merging() {
            let mut files = Vec::new();
            for id in merged {
                let ix = self.segments.iter().position(|part| part.id == id);
                if let Some(ix) = ix {
                    files.extend(self.segments.remove(ix).living());
                }
            }
            if !files.is_empty() {
                self.push(files);
            }
        }
    }

    fn push(&mut self, files: Vec<(AbsPath, Vec<Item>)>) {
        let segment = Segment::new(files);
        let id = self.next;
        self.next += 1;
        for (file, span) in segment.files().iter().enumerate() {
            self.files.insert(span.path.clone(), Some((id, file)));
        }
        self.segments.push(Part {
            id,
            gone: Arc::new(vec![false; segment.files().len()]),
            alive: segment.token_count(),
            segment: Arc::new(segment),
        });
    }

    /// Segments that should become one: those mostly of files that are gone, or many of about one size.
    fn worth_merging(&self) -> Option<Vec<u64>> {
        let wasted = self
            .segments
            .iter()
            .find(|part| part.alive * 2 < part.segment.token_count() || part.is_over());
        if let Some(part) = wasted {
            return Some(vec![part.id]);
        }
        let class = |part: &&Part| part.alive.max(1).ilog2() / 2;
        for part in &self.segments {
            let alike: Vec<&Part> = self
                .segments
                .iter()
                .filter(|it| class(it) <= class(&part) && it.alive <= MOST_SEGMENT / 2)
                .collect();
            let tokens: usize = alike.iter().map(|part| part.alive).sum();
            if alike.len() >= MOST_ALIKE && tokens <= MOST_SEGMENT * 2 {
                return Some(alike.iter().map(|part| part.id).collect());
            }
        }
        None
    }
}

impl Part {
    fn is_gone(&self, file: usize) -> bool {
        self.gone.get(file).copied().unwrap_or(true)
    }

    /// Whether no file of it counts any more. Files without a token count, too.
    fn is_over(&self) -> bool {
        self.gone.iter().all(|is_gone| *is_gone)
    }

    fn forget(&mut self, file: usize) {
        if let Some(gone) = Arc::make_mut(&mut self.gone)
            .get_mut(file)
            .filter(|gone| !**gone)
        {
            *gone = true;
            self.alive -= self.segment.file_items(file).len();
        }
    }

    /// The files that still count.
    fn living(&self) -> Vec<(AbsPath, Vec<Item>)> {
        let files = self.segment.files().iter().enumerate();
        files
            .filter(|(file, _)| !self.is_gone(*file))
            .map(|(file, span)| (span.path.clone(), self.segment.file_items(file).to_vec()))
            .collect()
    }
}

impl CorpusView {
    /// A view of nothing.
    pub fn empty() -> Arc<Self> {
        Arc::new(Self {
            words: Words::default(),
            parts: Vec::new(),
        })
    }

    /// The number of a word; a number that no file holds if there is none.
    pub(crate) fn word(&self, text: &str) -> u32 {
        let known = self.words.find(text).filter(|word| *word >= FIRST_WORD);
        known.unwrap_or(u32::MAX)
    }

    pub(crate) fn text(&self, word: u32) -> &str {
        self.words.text(word)
    }

    /// Places whose context is most like `context` (the nearest word first) and that `fits` takes, the longest
    /// matches of each segment first. At most `most` are told and `most_seen` looked at, of each segment.
    pub(crate) fn places(
        &self,
        context: &[u32],
        (most, most_seen): (usize, usize),
        fits: impl Fn(Item) -> bool,
    ) -> Vec<Place> {
        let mut places = Vec::new();
        for (ix, part) in self.parts.iter().enumerate() {
            let (mut taken, mut seen) = (0, 0);
            part.segment.visit(context, |found| {
                seen += 1;
                let item = part.segment.item(found.place);
                let file = part.segment.file_at(found.place);
                let is_there = file.is_some_and(|file| !part.is_gone(file));
                if is_there && item.is_some_and(&fits) {
                    taken += 1;
                    places.push(Place {
                        part: ix,
                        place: found.place,
                        length: found.length,
                    });
                }
                taken < most && seen < most_seen
            });
        }
        places
    }

    /// The first place of each word in some files that `begins` takes. At most `MOST_SPELT` tokens are looked at.
    pub(crate) fn spelled(
        &self,
        is_wanted: impl Fn(&AbsPath) -> bool,
        begins: impl Fn(&str) -> bool,
    ) -> Vec<(Place, &str)> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        let mut left = MOST_SPELT;
        for (ix, part) in self.parts.iter().enumerate() {
            let files = part.segment.files().iter().enumerate();
            for (file, span) in
                files.filter(|(file, it)| !part.is_gone(*file) && is_wanted(&it.path))
            {
                let items = part.segment.file_items(file).iter().take(left);
                left -= items.len();
                for (offset, item) in items.enumerate() {
                    let text = self.text(item.word());
                    if known.insert(item.word()) && begins(text) {
                        let place = Place {
                            part: ix,
                            place: span.start + offset,
                            length: 0,
                        };
                        found.push((place, text));
                    }
                }
            }
        }
        found
    }

    /// The token so many behind a place, or before it where negative. `None` beyond its file.
    pub(crate) fn item(&self, place: &Place, offset: isize) -> Option<Item> {
        let part = self.parts.get(place.part)?;
        let file = part.segment.file_at(place.place)?;
        let at = place.place.checked_add_signed(offset)?;
        let start = part.segment.files().get(file)?.start;
        (at >= start).then(|| part.segment.item(at)).flatten()
    }

    /// The file of a place.
    pub(crate) fn path(&self, place: &Place) -> Option<&AbsPath> {
        let part = self.parts.get(place.part)?;
        let file = part.segment.file_at(place.place)?;
        part.segment.files().get(file).map(|file| &file.path)
    }
}
