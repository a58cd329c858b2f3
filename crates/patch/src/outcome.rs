//! Outcome of a hunk, and the reason for it.
//!
//! `explain` composes the sentences about it.

use std::fmt;
use std::ops::Range;

use base::Row;

/// Outcome of a hunk, best first: applied exactly, applied with explained differences, ambiguous,
/// or rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HunkOutcome {
    /// It applies where its text occurs exactly.
    Exact,
    /// It applies at the only position that its text can mean; the differences are listed.
    Explained,
    /// Several positions match equally well.
    Ambiguous,
    /// No position matches, or the position must not be changed.
    Rejected,
}

impl HunkOutcome {
    /// Whether the hunk was applied.
    pub fn is_applied(self) -> bool {
        matches!(self, Self::Exact | Self::Explained)
    }

    /// Returns the name used in reports, stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Explained => "explained",
            Self::Ambiguous => "ambiguous",
            Self::Rejected => "rejected",
        }
    }
}

/// Strategy by which a position was found; a later one is tried only if all earlier ones find
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchStrategy {
    /// The text occurs in one position, or the whole file is meant.
    Exact,
    /// The text occurs in several positions; a line number, context or order decides.
    Placed,
    /// Ignores line endings, trailing white space, typographic punctuation or escapes.
    Normalised,
    /// Allows a uniform change of indentation.
    Reindented,
    /// Parts are left out by `...`.
    Elided,
    /// Aligns lines with few and small differences.
    Aligned,
}

impl MatchStrategy {
    /// Returns the one-based number of the strategy, in the order in which they are tried.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Returns the name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Placed => "placed",
            Self::Normalised => "normalised",
            Self::Reindented => "reindented",
            Self::Elided => "elided",
            Self::Aligned => "aligned",
        }
    }
}

/// A difference between the text of a hunk and the matched text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HunkDifference {
    /// Line endings, `\r\n` against `\n`.
    LineEndings,
    /// White space at the end of lines.
    TrailingSpace,
    /// Quotes, dashes or spaces of another kind.
    Punctuation,
    /// Quotes or line feeds escaped with a backslash.
    Escapes,
    /// HTML entities such as `&lt;`.
    Entities,
    /// Indentation of the lines.
    Indentation,
    /// Lines left out by `...`.
    Elision,
    /// Extra or missing blank lines.
    BlankLines,
    /// A misspelt word in an unchanged line.
    Typo,
    /// A context header that the file does not contain.
    Header,
    /// The hunk precedes the one that it follows in the patch.
    Order,
    /// Anchored lines have moved to other line numbers.
    Moved,
}

impl fmt::Display for HunkDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineEndings => "line endings",
            Self::TrailingSpace => "trailing white space",
            Self::Punctuation => "quotes, dashes or special spaces",
            Self::Escapes => "backslash escapes",
            Self::Entities => "HTML entities",
            Self::Indentation => "indentation",
            Self::Elision => "parts left out by `...`",
            Self::BlankLines => "blank lines",
            Self::Typo => "a misspelt word",
            Self::Header => "a context header that the file does not have",
            Self::Order => "the order of hunks",
            Self::Moved => "lines that have moved",
        })
    }
}

/// Reason why a hunk is refused. A refused hunk leaves the file unchanged. `Display` gives a
/// sentence for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkRefusal {
    /// The old text does not occur.
    NotFound,
    /// The old text occurs more than once.
    Several {
        /// Number of matching positions.
        count: usize,
        /// Strategy that found them.
        strategy: MatchStrategy,
    },
    /// The context header occurs in the file, but the text does not occur below it.
    NotUnderHeader(String),
    /// Old and new text are the same.
    NothingChanges,
    /// The old text is empty although the file is not.
    NothingToFind,
    /// An insertion without a verifiable position.
    NoPlace,
    /// The position is known, but it is ambiguous how the new text fits in.
    Unclear(Ambiguity),
    /// Two hunks change the same lines.
    Overlaps {
        /// Index of the other hunk, zero-based.
        hunk: usize,
    },
    /// The lines changed after they were read.
    Stale {
        /// Changed rows, end exclusive.
        rows: Range<Row>,
    },
    /// The new text abbreviates lines by a comment such as `... existing code ...`.
    ElidedReplacement(String),
    /// A diff deletes the file but quotes other content.
    OtherContent,
    /// The edit changes line endings that differ from those in the file.
    OtherEndings,
    /// An anchor does not match its line.
    AnchorMoved {
        /// The anchor as written.
        anchor: String,
    },
    /// The last anchored line precedes the first.
    AnchorsReversed,
    /// The file does not exist.
    NoFile,
    /// The file exists already and must not be replaced.
    FileExists,
    /// The path is unusable, with the reason as a sentence.
    BadPath(String),
    /// The file cannot be edited, with the reason as a sentence.
    Unreadable(String),
    /// The edit contains no change.
    Empty,
}

/// Reason why it is ambiguous how new text fits into a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// The old text omits or adds lines directly beside a change.
    Boundary,
    /// A changed line is misspelt in the old text.
    ChangedTypo,
    /// The indentation of new lines has several interpretations.
    Indentation,
    /// Typographic quotes in the new text may be intended or stand in for plain ones.
    Punctuation,
    /// Escapes in the new text have several interpretations.
    Escapes,
    /// Old and new text leave out different parts.
    Elision,
    /// The file already contains the new text instead of the old.
    AlreadyThere,
    /// The new text begins or ends with blank lines, some of which the file already has.
    BlankEdge,
}

impl HunkRefusal {
    /// Returns the name used in reports, stable across versions.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Several { .. } => "several",
            Self::NotUnderHeader(_) => "not-under-header",
            Self::NothingChanges => "nothing-changes",
            Self::NothingToFind => "nothing-to-find",
            Self::NoPlace => "no-place",
            Self::Unclear(_) => "unclear",
            Self::Overlaps { .. } => "overlaps",
            Self::Stale { .. } => "stale",
            Self::ElidedReplacement(_) => "elided-replacement",
            Self::OtherContent => "other-content",
            Self::OtherEndings => "other-endings",
            Self::AnchorMoved { .. } => "anchor-moved",
            Self::AnchorsReversed => "anchors-reversed",
            Self::NoFile => "no-file",
            Self::FileExists => "file-exists",
            Self::BadPath(_) => "bad-path",
            Self::Unreadable(_) => "unreadable",
            Self::Empty => "empty",
        }
    }

    /// Returns the outcome of a hunk that is refused for this reason.
    pub(crate) fn outcome(&self) -> HunkOutcome {
        match self {
            Self::Several { .. } => HunkOutcome::Ambiguous,
            _ => HunkOutcome::Rejected,
        }
    }
}

impl fmt::Display for HunkRefusal {
    // tidy: table
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("the old text is not in the file; quote the lines as they are now"),
            Self::Several { count, strategy } => {
                let how = match strategy {
                    MatchStrategy::Exact | MatchStrategy::Placed => "",
                    _ => ", ignoring small differences",
                };
                write!(f, "the old text occurs {count} times{how}; quote more of the lines around the one you mean")
            }
            Self::NotUnderHeader(header) => write!(f, "the old text does not occur below {header:?}; name the header that precedes it, or none"),
            Self::NothingChanges => f.write_str("old and new text are the same, so nothing would change"),
            Self::NothingToFind => f.write_str("the old text is empty but the file is not; quote the lines next to which the new text belongs"),
            Self::NoPlace => f.write_str("this insertion has no position; quote a line before or after it"),
            Self::Unclear(doubt) => doubt.fmt(f),
            Self::Overlaps { hunk } => write!(f, "this changes lines that hunk {} changes too; make them one hunk", hunk + 1),
            Self::Stale { rows } => write!(
                f,
                "lines {} to {} changed after they were read; read them again",
                rows.start.0 + 1,
                rows.end.0.max(rows.start.0 + 1)
            ),
            Self::ElidedReplacement(line) => write!(f, "the line {line:?} of the new text abbreviates lines that it would delete; write those lines out in full"),
            Self::OtherContent => f.write_str("the file's content differs from the lines that this diff deletes; read it again, and delete it by quoting all of its lines or by its path alone"),
            Self::OtherEndings => f.write_str("the edit changes line endings (CRLF, LF) that differ from those in the file; quote the endings as they are in the file"),
            Self::AnchorMoved { anchor } => write!(f, "the line {anchor} is no longer in the file; use the anchors given here"),
            Self::AnchorsReversed => f.write_str("the last line precedes the first; name them in order"),
            Self::NoFile => f.write_str("there is no such file; check the path, or create the file"),
            Self::FileExists => f.write_str("a file exists at this path already; update it instead"),
            Self::BadPath(reason) | Self::Unreadable(reason) => f.write_str(reason),
            Self::Empty => f.write_str("the edit contains no change of this file"),
        }
    }
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boundary => "the old text omits or adds a line directly beside the change; quote the lines there exactly",
            Self::ChangedTypo => "a changed line is misspelt in the old text; quote it exactly",
            Self::Indentation => "the indentation of the new lines is ambiguous; indent old and new text as the file does",
            Self::Punctuation => {
                "it is unclear whether the quotes in the new text are intended; quote the old text with the characters used in the file"
            }
            Self::Escapes => "it is unclear whether the escapes in the new text are intended; write the text without extra escapes",
            Self::Elision => "old and new text must leave out the same parts by `...`, and the remaining parts must be unambiguous; write the lines in full",
            Self::AlreadyThere => {
                "this change has been applied already: the file contains the new text; leave it out, or quote more of the lines around it to apply it once more"
            }
            Self::BlankEdge => "the new text begins or ends with blank lines, some of which the file already has; quote those in the old text too",
        })
    }
}

/// Report on one hunk: its outcome, and either the position and strategy of the match, or the
/// reason of the refusal and the lines that the hunk may have meant.
#[derive(Clone, Debug, PartialEq)]
pub struct HunkReport {
    /// Index among the hunks or operations of its file edit, zero-based.
    pub hunk: usize,
    /// Outcome of the hunk.
    pub outcome: HunkOutcome,
    /// Strategy that found its position; `None` unless it was applied.
    pub strategy: Option<MatchStrategy>,
    /// Rows of the original text that it matched; empty for an insertion.
    pub rows: Option<Range<Row>>,
    /// Differences between the hunk and the file, sorted.
    pub differences: Vec<HunkDifference>,
    /// Reason why it was refused.
    pub refusal: Option<HunkRefusal>,
    /// Up to three positions that a refused hunk may have meant, the most similar first.
    pub nearest: Vec<NearMatch>,
    /// Resulting lines of a hunk that was applied despite differences.
    pub now: Option<NearMatch>,
    /// Row where the new text of a refused hunk already occurs.
    pub already_at: Option<Row>,
    /// Bytes of the model's text that it was parsed from.
    pub source: Range<usize>,
}

impl HunkReport {
    /// Returns the one-based line of the original text at which the hunk was applied, or `None` if
    /// the hunk was refused.
    pub fn line_number(&self) -> Option<u32> {
        self.rows.as_ref().map(|rows| rows.start.0 + 1)
    }

    /// Creates the report of a refused hunk. `source` is the byte range of the hunk in the model's
    /// text.
    pub(crate) fn refused(hunk: usize, refusal: HunkRefusal, source: Range<usize>) -> Self {
        Self {
            hunk,
            outcome: refusal.outcome(),
            strategy: None,
            rows: None,
            differences: Vec::new(),
            refusal: Some(refusal),
            nearest: Vec::new(),
            now: None,
            already_at: None,
            source,
        }
    }

    /// Creates the report of a hunk that was applied exactly at `rows`. The caller adds
    /// differences.
    pub(crate) fn landed(
        hunk: usize,
        strategy: MatchStrategy,
        rows: Range<usize>,
        source: Range<usize>,
    ) -> Self {
        Self {
            hunk,
            outcome: HunkOutcome::Exact,
            strategy: Some(strategy),
            rows: Some(Row(rows.start as u32)..Row(rows.end as u32)),
            differences: Vec::new(),
            refusal: None,
            nearest: Vec::new(),
            now: None,
            already_at: None,
            source,
        }
    }
}

/// Lines of the file that a hunk may have meant.
#[derive(Clone, Debug, PartialEq)]
pub struct NearMatch {
    /// First row of the lines.
    pub row: Row,
    /// Text of the lines, joined by `\n`, shortened if long.
    pub text: String,
    /// Similarity to the old text, from 0 to 1.
    pub similarity: f32,
}
