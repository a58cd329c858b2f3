//! Token corpus of a project, indexed so that similar contexts are found in microseconds.
//!
//! Must not know: where files are, what a suggestion is. `insert` and `remove` maintain the files;
//! their tokens are in immutable segments that are merged as their number grows, so an update costs
//! as much as the file that was saved. `insert`, `compact` and `view` run on a background thread; a
//! view works on any thread.
//! Invariant: a view answers from the files as they were when it was created.
//! Limitations: uses about 8 bytes per token. `compact` keeps memory below a budget, by default
//! `DEFAULT_BYTES`, by forgetting the files that were added first. Words are never forgotten.

mod interner;
mod segment;
pub(crate) mod stream;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base::AbsPath;

use super::line_ending::lf_len;
use interner::TokenInterner;
use segment::TokenSegment;
use stream::{FIRST_WORD, PackedToken, UNKNOWN, items};

/// Default memory budget of a corpus, in bytes, for `Corpus::compact`: some 14 million tokens.
pub const DEFAULT_BYTES: usize = 128 * 1024 * 1024;

/// Larger files, in bytes, are treated as data and skipped.
const MAX_FILE_BYTES: usize = 512 * 1024;

/// Files with a longer mean line, in bytes, are treated as generated and skipped.
const MAX_MEAN_LINE_BYTES: usize = 200;

/// Segments with more tokens are not merged.
const MAX_SEGMENT_TOKENS: usize = 2 << 20;

/// Maximum number of tokens of open files searched by prefix: some ten thousand lines.
const MAX_SPELLED_TOKENS: usize = 100_000;

/// Maximum number of words inspected in each segment for one prefix.
const MAX_PREFIXED: usize = 500;

/// Number of segments of similar size that are merged into one.
const MAX_SEGMENTS_PER_SIZE: usize = 6;

/// The tokens of a project's files, indexed by the tokens before each position; files can be added,
/// replaced and removed. Only `compact` limits the memory used.
pub struct Corpus {
    words: TokenInterner,
    /// Ordered from the oldest.
    segments: Vec<LiveSegment>,
    pending: Vec<(AbsPath, Vec<PackedToken>)>,
    pending_tokens: usize,
    /// Segment id and index within the segment; `None` for pending files.
    files: HashMap<AbsPath, Option<(u64, usize)>>,
    next: u64,
}

/// A segment and which of its files are still current.
#[derive(Clone)]
struct LiveSegment {
    id: u64,
    segment: Arc<TokenSegment>,
    gone: Arc<Vec<bool>>,
    /// Number of tokens in current files.
    alive: usize,
}

/// The tokens of a project at one moment, immutable. Cheap to share through its `Arc`; later
/// changes of the corpus do not affect it.
pub struct CorpusView {
    words: TokenInterner,
    parts: Vec<LiveSegment>,
}

/// The position of a token in a view, with the length of its match. Valid only in that view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CorpusPosition {
    part: usize,
    place: usize,
    /// Number of tokens before it that match the searched context.
    pub(crate) length: usize,
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

impl Corpus {
    /// Creates an empty corpus.
    pub fn new() -> Self {
        let mut words = TokenInterner::default();
        // Reserves the first numbers; control characters are never tokens of a text.
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

    /// Adds a file or replaces its content. Files that look generated or like data (very large, or
    /// with very long lines) are left out, and their earlier content is removed.
    pub fn insert(&mut self, path: &AbsPath, text: &str) {
        self.remove(path);
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let bytes = lf_len(text);
        if bytes > MAX_FILE_BYTES || bytes / lines > MAX_MEAN_LINE_BYTES {
            return;
        }
        let words = &mut self.words;
        let items = items(text, |word| words.intern(word).unwrap_or(UNKNOWN));
        self.pending_tokens += items.len();
        self.pending.push((path.clone(), items));
        self.files.insert(path.clone(), None);
        if self.pending_tokens >= MAX_SEGMENT_TOKENS {
            self.flush();
        }
    }

    /// Removes a file's tokens. Does nothing if the corpus does not contain the file.
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

    /// Returns the number of files.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Returns the number of tokens in all files.
    pub fn token_count(&self) -> usize {
        self.pending_tokens + self.segments.iter().map(|part| part.alive).sum::<usize>()
    }

    /// Returns the memory used in bytes, not counting the files that wait to be indexed.
    pub fn bytes(&self) -> usize {
        let parts: usize = self.segments.iter().map(|part| part.segment.bytes()).sum();
        parts + self.words.bytes()
    }

    /// Indexes waiting files, then forgets the oldest segments with their files until at most
    /// `budget` bytes are used. Interned words stay.
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

    /// Indexes waiting files and returns a view of the current content.
    pub fn view(&mut self) -> Arc<CorpusView> {
        self.flush();
        Arc::new(CorpusView {
            words: self.words.clone(),
            parts: self.segments.clone(),
        })
    }

    /// Moves pending files into a segment and keeps the number of segments low.
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

    fn push(&mut self, files: Vec<(AbsPath, Vec<PackedToken>)>) {
        let segment = TokenSegment::new(files, &self.words);
        let id = self.next;
        self.next += 1;
        for (file, span) in segment.files().iter().enumerate() {
            self.files.insert(span.path.clone(), Some((id, file)));
        }
        self.segments.push(LiveSegment {
            id,
            gone: Arc::new(vec![false; segment.files().len()]),
            alive: segment.token_count(),
            segment: Arc::new(segment),
        });
    }

    /// Returns segments to merge: one that consists mostly of removed files, or many of similar
    /// size.
    fn worth_merging(&self) -> Option<Vec<u64>> {
        let wasted = self
            .segments
            .iter()
            .find(|part| part.alive * 2 < part.segment.token_count() || part.is_over());
        if let Some(part) = wasted {
            return Some(vec![part.id]);
        }
        let class = |part: &&LiveSegment| part.alive.max(1).ilog2() / 2;
        for part in &self.segments {
            let alike: Vec<&LiveSegment> = self
                .segments
                .iter()
                .filter(|it| class(it) <= class(&part) && it.alive <= MAX_SEGMENT_TOKENS / 2)
                .collect();
            let tokens: usize = alike.iter().map(|part| part.alive).sum();
            if alike.len() >= MAX_SEGMENTS_PER_SIZE && tokens <= MAX_SEGMENT_TOKENS * 2 {
                return Some(alike.iter().map(|part| part.id).collect());
            }
        }
        None
    }
}

impl LiveSegment {
    /// Whether the file with this index in the segment was removed. `true` for an unknown index.
    fn is_gone(&self, file: usize) -> bool {
        self.gone.get(file).copied().unwrap_or(true)
    }

    /// Whether all of its files were removed. Files without tokens count, too.
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

    /// Returns the current files.
    fn living(&self) -> Vec<(AbsPath, Vec<PackedToken>)> {
        let files = self.segment.files().iter().enumerate();
        files
            .filter(|(file, _)| !self.is_gone(*file))
            .map(|(file, span)| (span.path.clone(), self.segment.file_items(file).to_vec()))
            .collect()
    }
}

impl CorpusView {
    /// Returns a view without files.
    pub fn empty() -> Arc<Self> {
        Arc::new(Self {
            words: TokenInterner::default(),
            parts: Vec::new(),
        })
    }

    /// Returns the number of a word in this view. For an unknown word, returns `u32::MAX`, which no
    /// file contains.
    pub(crate) fn word_number(&self, text: &str) -> u32 {
        let known = self.words.find(text).filter(|word| *word >= FIRST_WORD);
        known.unwrap_or(u32::MAX)
    }

    /// Returns the text of the word with a number. For an unknown number, the text is empty.
    pub(crate) fn text(&self, word: u32) -> &str {
        self.words.text(word)
    }

    /// Returns the positions that `fits` accepts and whose preceding tokens best match `context`
    /// (the nearest token first), the longest matches of each segment first. Returns at most `most`
    /// and inspects at most `most_seen` positions per segment.
    pub(crate) fn find_positions(
        &self,
        context: &[u32],
        (most, most_seen): (usize, usize),
        fits: impl Fn(PackedToken) -> bool,
    ) -> Vec<CorpusPosition> {
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
                    places.push(CorpusPosition {
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

    /// Returns words that begin with `prefix`, with how often they occur, the most frequent first.
    /// Inspects at most `MAX_PREFIXED` words of each segment; files that were removed since the
    /// segment was made still count.
    pub(crate) fn words_with_prefix(&self, prefix: &str) -> Vec<(u32, u32)> {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for part in &self.parts {
            let mut left = MAX_PREFIXED;
            part.segment
                .visit_words(prefix, &self.words, |word, count| {
                    found.push((word, count));
                    left -= 1;
                    left > 0
                });
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        found.sort_unstable_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
        found
    }

    /// Returns, for each different word that `begins` accepts, its text and its first position in
    /// the files that `is_wanted` accepts. Inspects at most `MAX_SPELLED_TOKENS` tokens.
    pub(crate) fn spelled(
        &self,
        is_wanted: impl Fn(&AbsPath) -> bool,
        begins: impl Fn(&str) -> bool,
    ) -> Vec<(CorpusPosition, &str)> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        let mut left = MAX_SPELLED_TOKENS;
        for (ix, part) in self.parts.iter().enumerate() {
            let files = part.segment.files().iter().enumerate();
            for (file, span) in
                files.filter(|(file, it)| !part.is_gone(*file) && is_wanted(&it.path))
            {
                let items = part.segment.file_items(file).iter().take(left);
                left -= items.len();
                for (offset, item) in items.enumerate() {
                    let text = self.text(item.word_number());
                    if known.insert(item.word_number()) && begins(text) {
                        let place = CorpusPosition {
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

    /// Returns the token at an offset from a position, in tokens: 0 is the token at the position,
    /// negative offsets precede it. `None` before the start of its file and directly after its end.
    /// Offsets farther beyond the end may lie in another file, so a caller that goes forward must
    /// stop at the first `None`.
    pub(crate) fn item(&self, place: &CorpusPosition, offset: isize) -> Option<PackedToken> {
        let part = self.parts.get(place.part)?;
        let file = part.segment.file_at(place.place)?;
        let at = place.place.checked_add_signed(offset)?;
        let start = part.segment.files().get(file)?.start;
        (at >= start).then(|| part.segment.item(at)).flatten()
    }

    /// Returns the path of the file that contains a position; `None` if the view has no such
    /// segment.
    pub(crate) fn path(&self, place: &CorpusPosition) -> Option<&AbsPath> {
        let part = self.parts.get(place.part)?;
        let file = part.segment.file_at(place.place)?;
        part.segment.files().get(file).map(|file| &file.path)
    }
}
