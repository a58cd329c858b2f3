//! Comments of the user on changes of a session: the prompt that carries one, and the threads that the
//! records of a session hold.
//!
//! A comment is a prompt of a fixed form, so that it passes through queues, records, the board and
//! external agents as any prompt does, and is found again in all of them.
//!
//! Knows: records. Must not know: files, how a change is found again.
//! Invariant: `ReviewComment::parse` returns the comment of which `to_prompt` made the text.
//! Limitations: of a long change only the start is quoted. A path with a line feed makes a plain
//! prompt.
//! Start at `ReviewComment`; `CommentThreads` is the fold over the records.

use crate::record::{QueueChange, SessionRecord, Stored, TurnEnd};
use crate::stored_parts::texts;

/// Maximum number of quoted lines.
const MAX_QUOTED_LINES: usize = 40;
/// Maximum size of a quote, in bytes.
const MAX_QUOTED_BYTES: usize = 4000;
/// Maximum length of an answer, in characters.
const MAX_ANSWER: usize = 600;
/// The words before the place of a comment.
const START: &str = "Comment on ";
/// The mark of a line whose end is left out.
const CUT: char = '\u{2026}';

/// A comment of the user on lines that a session changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewComment {
    /// The file, relative to the folder of the session.
    pub path: String,
    /// The first and the last line in the file as it was then, from 1.
    pub lines: (u32, u32),
    /// The quoted lines that the session removed.
    pub removed: Vec<String>,
    /// The quoted lines that the session added.
    pub added: Vec<String>,
    /// The words of the user.
    pub words: String,
}

impl ReviewComment {
    /// Returns a comment that quotes the start of a change.
    pub fn new(
        path: &str,
        lines: (u32, u32),
        (removed, added): (&[String], &[String]),
        words: &str,
    ) -> Self {
        let mut room = QuoteRoom {
            lines: MAX_QUOTED_LINES,
            bytes: MAX_QUOTED_BYTES,
        };
        // Both sides of a long change are seen.
        let removed = room.take(removed, MAX_QUOTED_LINES / 2);
        let added = room.take(added, MAX_QUOTED_LINES);
        Self {
            path: path.to_owned(),
            lines,
            removed,
            added,
            words: words.trim().to_owned(),
        }
    }

    /// Returns the prompt that carries the comment.
    pub fn to_prompt(&self) -> String {
        let (first, last) = self.lines;
        let place = if last > first {
            format!("{}:{first}-{last}", self.path)
        } else {
            format!("{}:{first}", self.path)
        };
        let removed = self.removed.iter().map(|line| format!("-{line}\n"));
        let added = self.added.iter().map(|line| format!("+{line}\n"));
        let quote: String = removed.chain(added).collect();
        let (tick, fence) = (fence(&place, 1), fence(&quote, 3));
        let words = &self.words;
        format!("{START}{tick}{place}{tick}:\n{fence}diff\n{quote}{fence}\n{words}")
    }

    /// Returns the comment that a prompt carries; `None` for any other prompt.
    pub fn parse(prompt: &str) -> Option<Self> {
        let (head, rest) = prompt.strip_prefix(START)?.split_once('\n')?;
        let place = head.strip_suffix(':')?;
        // A place ends with a digit, but may begin with a backtick of its own.
        let ticks = place.len() - place.trim_end_matches('`').len();
        let place = place.get(ticks..place.len().checked_sub(ticks)?)?;
        let (path, lines) = place.rsplit_once(':').filter(|_| ticks > 0)?;
        let lines = match lines.split_once('-') {
            Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
            None => (lines.parse().ok()?, lines.parse().ok()?),
        };
        let (fence, rest) = rest.split_once('\n')?;
        let fence = fence.strip_suffix("diff").filter(|it| it.len() >= 3)?;
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        let mut words = rest;
        loop {
            let (line, after) = words.split_once('\n')?;
            words = after;
            if line == fence {
                break;
            }
            match line.split_at_checked(1)? {
                ("-", text) => removed.push(text.to_owned()),
                ("+", text) => added.push(text.to_owned()),
                _ => return None,
            }
        }
        let words = words.trim();
        (!words.is_empty()).then(|| Self {
            path: path.to_owned(),
            lines,
            removed,
            added,
            words: words.to_owned(),
        })
    }

    /// Returns the number of quoted lines of a change, and the number of them that these lines have:
    /// the removed ones among `removed`, the added ones among `added`. Blank lines do not count.
    pub fn quoted_in(&self, removed: &[String], added: &[&String]) -> (usize, usize) {
        let is_in = |quoted: &str, line: &str| match quoted.strip_suffix(CUT) {
            Some(start) => line.starts_with(start),
            None => line == quoted,
        };
        let counts = |line: &&String| !line.trim().is_empty();
        let gone = self.removed.iter().filter(counts);
        let come = self.added.iter().filter(counts);
        let total = gone.clone().count() + come.clone().count();
        let gone = gone.filter(|quoted| removed.iter().any(|line| is_in(quoted, line)));
        let come = come.filter(|quoted| added.iter().any(|line| is_in(quoted, line)));
        (total, gone.count() + come.count())
    }
}

/// The room that is left in a quote.
struct QuoteRoom {
    lines: usize,
    bytes: usize,
}

impl QuoteRoom {
    /// Returns the first lines that fit, `most` at most; a line that is too long is cut.
    fn take(&mut self, lines: &[String], most: usize) -> Vec<String> {
        let mut taken = Vec::new();
        for line in lines.iter().take(most.min(self.lines)) {
            if self.bytes == 0 {
                break;
            }
            let mut quoted = line.clone();
            if quoted.len() > self.bytes {
                quoted.truncate(quoted.floor_char_boundary(self.bytes));
                quoted.push(CUT);
            }
            self.bytes -= quoted.len().min(self.bytes);
            taken.push(quoted);
        }
        self.lines -= taken.len();
        taken
    }
}

/// Returns backticks that the text does not contain, `least` at least.
fn fence(text: &str, least: usize) -> String {
    let runs = text.split(|letter| letter != '`').map(str::len);
    let longest = runs.max().unwrap_or(0);
    "`".repeat(least.max(longest + 1))
}

/// A comment with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentThread {
    /// The comment.
    pub comment: ReviewComment,
    /// The state of the answer.
    pub state: CommentState,
}

/// The state of the answer to a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommentState {
    /// The comment waits in the queue, as the message with this id.
    Queued(u64),
    /// The agent works on it.
    Waiting,
    /// The agent's last words of the turn, shortened; may be empty.
    Answered(String),
    /// The turn ended without an answer, for this reason.
    Failed(String),
}

/// The threads of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentThreads {
    threads: Vec<CommentThread>,
    /// For each thread the turn that got the comment, and the latest text of that turn.
    turns: Vec<Option<(u64, String)>>,
}

impl CommentThreads {
    /// Returns the threads that these records hold.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Stored>) -> Self {
        let mut threads = Self::default();
        for stored in records {
            threads.apply_record(&stored.record);
        }
        threads
    }

    /// All threads, oldest first.
    pub fn threads(&self) -> &[CommentThread] {
        &self.threads
    }

    /// Applies a record. Returns whether a thread changed.
    pub fn apply_record(&mut self, record: &SessionRecord) -> bool {
        match record {
            SessionRecord::Queued {
                change: QueueChange::Added { entry },
            } => self.add(&texts(&entry.parts), CommentState::Queued(entry.id), None),
            SessionRecord::Queued {
                change: QueueChange::Removed { id },
            } => self.remove(*id),
            SessionRecord::Prompted { turn, parts, .. } => self.sent(&texts(parts), *turn),
            SessionRecord::Answered { turn, parts, .. } => {
                let text = texts(parts);
                for (_, answer) in self.turns.iter_mut().flatten().filter(|it| it.0 == *turn) {
                    if !text.trim().is_empty() {
                        text.trim().clone_into(answer);
                    }
                }
                false
            }
            SessionRecord::TurnEnded { turn, end } => self.ended(*turn, end),
            _ => false,
        }
    }

    fn add(&mut self, prompt: &str, state: CommentState, turn: Option<u64>) -> bool {
        let Some(comment) = ReviewComment::parse(prompt) else {
            return false;
        };
        self.threads.push(CommentThread { comment, state });
        self.turns.push(turn.map(|turn| (turn, String::new())));
        true
    }

    /// Removes a comment that the user took out of the queue.
    fn remove(&mut self, id: u64) -> bool {
        let at = self
            .threads
            .iter()
            .position(|it| it.state == CommentState::Queued(id));
        if let Some(at) = at {
            self.threads.remove(at);
            self.turns.remove(at);
        }
        at.is_some()
    }

    /// Notes that a turn got a prompt, which may have waited in the queue.
    fn sent(&mut self, prompt: &str, turn: u64) -> bool {
        let Some(comment) = ReviewComment::parse(prompt) else {
            return false;
        };
        let is_it = |it: &CommentThread| {
            matches!(it.state, CommentState::Queued(_)) && it.comment == comment
        };
        match self.threads.iter().position(is_it) {
            Some(at) => {
                self.threads[at].state = CommentState::Waiting;
                self.turns[at] = Some((turn, String::new()));
                true
            }
            None => self.add(prompt, CommentState::Waiting, Some(turn)),
        }
    }

    fn ended(&mut self, turn: u64, end: &TurnEnd) -> bool {
        let mut is_changed = false;
        for (thread, of_turn) in self.threads.iter_mut().zip(&self.turns) {
            let Some((_, answer)) = of_turn.as_ref().filter(|it| it.0 == turn) else {
                continue;
            };
            thread.state = match end {
                TurnEnd::Done => CommentState::Answered(shortened(answer)),
                end => CommentState::Failed(end.to_string()),
            };
            is_changed = true;
        }
        is_changed
    }
}

/// The start of an answer.
fn shortened(answer: &str) -> String {
    match answer.char_indices().nth(MAX_ANSWER) {
        Some((end, _)) => format!("{}{CUT}", &answer[..end]),
        None => answer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Delivery, QueuedPrompt};
    use crate::stored_parts;

    fn own(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn comment(words: &str) -> ReviewComment {
        let (removed, added) = (own(&["old"]), own(&["new", ""]));
        ReviewComment::new("src/a.rs", (3, 4), (&removed, &added), words)
    }

    #[test]
    fn a_prompt_names_the_place_and_quotes_the_change() {
        let prompt = comment(" why? ").to_prompt();
        let expected = "Comment on `src/a.rs:3-4`:\n```diff\n-old\n+new\n+\n```\nwhy?";
        assert_eq!(prompt, expected);
    }

    #[test]
    fn comments_are_found_again_in_their_prompts() {
        let cases = [
            ("a", own(&[]), own(&["x"]), "w"),
            (
                "a b:1.rs",
                own(&["```", "-"]),
                own(&["`````", "+ @name"]),
                "two\nlines",
            ),
            ("`a`b.rs", own(&[]), own(&[]), "```\nfenced\n```"),
        ];
        for (path, removed, added, words) in cases {
            for lines in [(1, 1), (7, 12)] {
                let comment = ReviewComment::new(path, lines, (&removed, &added), words);
                assert_eq!(ReviewComment::parse(&comment.to_prompt()), Some(comment));
            }
        }
        for text in [
            "",
            "Comment on this",
            "Comment on `a`:\n",
            "Comment on `a:1`:\n```diff\n```\n ",
        ] {
            assert_eq!(ReviewComment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn long_changes_are_quoted_in_part() {
        let many: Vec<String> = (0..500).map(|line| format!("line {line}")).collect();
        let comment = ReviewComment::new("a", (1, 500), (&many, &many), "w");
        assert_eq!((comment.removed.len(), comment.added.len()), (20, 20));
        let long = vec!["\u{e9}".repeat(9000)];
        let comment = ReviewComment::new("a", (1, 1), (&[], &long), "w");
        assert!(comment.to_prompt().len() < MAX_QUOTED_BYTES + 200);
        assert_eq!(comment.quoted_in(&[], &[&long[0]]), (1, 1));
        assert_eq!(comment.quoted_in(&[], &[]), (1, 0));
    }

    fn queued(id: u64, text: &str) -> SessionRecord {
        let entry = QueuedPrompt {
            id,
            parts: vec![stored_parts::text(text)],
            delivery: Delivery::NextRequest,
        };
        let change = QueueChange::Added { entry };
        SessionRecord::Queued { change }
    }

    fn prompted(turn: u64, text: &str) -> SessionRecord {
        SessionRecord::Prompted {
            turn,
            parts: vec![stored_parts::text(text)],
            is_steering: false,
        }
    }

    fn answered(turn: u64, text: &str) -> SessionRecord {
        SessionRecord::Answered {
            turn,
            step: 1,
            model: String::new(),
            parts: vec![stored_parts::text(text)],
            usage: crate::record::StoredUsage::default(),
            cost_nano: None,
            stop: String::new(),
        }
    }

    #[test]
    fn the_last_text_of_the_turn_answers() {
        let text = comment("why?").to_prompt();
        let mut threads = CommentThreads::default();
        let states = |threads: &CommentThreads| -> Vec<CommentState> {
            let all = threads.threads().iter();
            all.map(|it| it.state.clone()).collect()
        };
        threads.apply_record(&queued(4, &text));
        threads.apply_record(&queued(5, "not a comment"));
        assert_eq!(states(&threads), [CommentState::Queued(4)]);
        threads.apply_record(&prompted(2, &text));
        let sent = QueueChange::Sent { id: 4 };
        threads.apply_record(&SessionRecord::Queued { change: sent });
        assert_eq!(states(&threads), [CommentState::Waiting]);
        threads.apply_record(&answered(2, "I look."));
        threads.apply_record(&answered(2, "Because."));
        threads.apply_record(&answered(2, ""));
        let ended = |turn, end| SessionRecord::TurnEnded { turn, end };
        threads.apply_record(&ended(2, TurnEnd::Done));
        let because = CommentState::Answered("Because.".to_owned());
        assert_eq!(states(&threads), std::slice::from_ref(&because));
        threads.apply_record(&prompted(3, &text));
        threads.apply_record(&ended(3, TurnEnd::Stopped));
        let stopped = CommentState::Failed("stopped".to_owned());
        assert_eq!(states(&threads), [because, stopped]);
    }

    #[test]
    fn a_comment_taken_out_of_the_queue_leaves_no_thread() {
        let mut threads = CommentThreads::default();
        threads.apply_record(&queued(1, &comment("why?").to_prompt()));
        let change = QueueChange::Removed { id: 1 };
        assert!(threads.apply_record(&SessionRecord::Queued { change }));
        assert_eq!(threads.threads(), []);
    }
}
