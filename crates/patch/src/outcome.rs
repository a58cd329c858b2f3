//! What became of a hunk, and why.
//!
//! Sentences about it are made in `explain`.

use std::fmt;
use std::ops::Range;

use base::Row;

/// What became of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It lands where its text stands, letter by letter.
    Exact,
    /// It lands in the only place that its text can mean; the differences are named.
    Explained,
    /// Several places fit equally well.
    Ambiguous,
    /// No place fits, or it must not be changed.
    Rejected,
}

impl Outcome {
    /// Whether the hunk lands.
    pub fn is_applied(self) -> bool {
        matches!(self, Self::Exact | Self::Explained)
    }

    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Explained => "explained",
            Self::Ambiguous => "ambiguous",
            Self::Rejected => "rejected",
        }
    }
}

/// How a place was found; a later rung is tried only where every earlier one finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// The text stands in one place, or the whole file is meant.
    Exact,
    /// The text stands in several places; a line number, context or order tells which.
    Placed,
    /// Apart from line endings, trailing white space, punctuation or escapes.
    Normalised,
    /// Apart from a uniform change of indentation.
    Reindented,
    /// Parts are left out by `...`.
    Elided,
    /// Line by line, with few and small differences.
    Aligned,
}

impl Rung {
    /// Counted from 1.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// The word for it in reports.
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

/// How the text of a hunk differs from the place where it lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// `\r\n` against `\n`.
    LineEndings,
    /// White space at the end of lines.
    TrailingSpace,
    /// Quotes, dashes, spaces of another kind.
    Punctuation,
    /// Quotes or line feeds written with a backslash.
    Escapes,
    /// `&lt;` and its like.
    Entities,
    /// The indentation.
    Indentation,
    /// Lines left out by `...`.
    Elision,
    /// Blank lines more or fewer.
    BlankLines,
    /// A misspelt word in a line that stays.
    Typo,
    /// A context header that does not stand in the file.
    Header,
    /// The hunk stands before the one that it follows in the patch.
    Order,
    /// The line numbers of anchored lines have moved.
    Moved,
}

impl fmt::Display for Difference {
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

/// Why a hunk does not land. `Display` gives a sentence for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text to find is not there.
    NotFound,
    /// It is there more than once.
    Several {
        /// How often.
        count: usize,
        /// How it was found.
        rung: Rung,
    },
    /// A context header comes in the file, but the text does not stand under it.
    NotUnderHeader(String),
    /// Old and new text are the same.
    NothingChanges,
    /// There is nothing to find, in a file that has text.
    NothingToFind,
    /// An insertion that says nowhere that can be checked where it belongs.
    NoPlace,
    /// The place is found but how the new text fits in is not clear.
    Unclear(Doubt),
    /// Two hunks change the same lines.
    Overlaps {
        /// The other hunk, counted from 0.
        hunk: usize,
    },
    /// The lines changed after they were read.
    Stale {
        /// The lines that did, 0-based, end excluded.
        rows: Range<Row>,
    },
    /// The new text stands for more by a comment such as `... existing code ...`.
    ElidedReplacement(String),
    /// A diff deletes the file and quotes other lines than it holds.
    OtherContent,
    /// Line endings that the edit changes are not those of the file.
    OtherEndings,
    /// An anchor does not fit its line.
    AnchorMoved {
        /// The anchor as written.
        anchor: String,
    },
    /// The last anchored line stands before the first.
    AnchorsReversed,
    /// There is no such file.
    NoFile,
    /// There is a file already, and it must not be replaced.
    FileExists,
    /// The path cannot be used, with the reason as a sentence.
    BadPath(String),
    /// What lies there cannot be changed, with the reason as a sentence.
    Unreadable(String),
    /// The edit of the file names no change.
    Empty,
}

/// Why it is not clear how new text fits into a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The old text leaves out or adds lines right where something changes.
    Boundary,
    /// A changed line is misspelt in the old text.
    ChangedTypo,
    /// The indentation of new lines can be read in several ways.
    Indentation,
    /// Quotes in the new text may be meant as they are or plain.
    Punctuation,
    /// Escapes in the new text can be read in several ways.
    Escapes,
    /// Old and new text do not leave out the same parts.
    Elision,
    /// The file reads at the place as the new text does, and not as the old.
    AlreadyThere,
    /// The new text begins or ends with blank lines of which the file has some already.
    BlankEdge,
}

impl Refusal {
    /// The word for it in reports, stable over versions.
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

    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Several { .. } => Outcome::Ambiguous,
            _ => Outcome::Rejected,
        }
    }
}

impl fmt::Display for Refusal {
    // tidy: table
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("the old text does not stand in the file; quote the lines as they are now"),
            Self::Several { count, rung } => {
                let how = match rung {
                    Rung::Exact | Rung::Placed => "",
                    _ => ", apart from small differences",
                };
                write!(f, "the old text stands in {count} places{how}; quote more lines around the one that is meant")
            }
            Self::NotUnderHeader(header) => write!(f, "the old text does not stand under {header:?}; name the header it stands under, or none"),
            Self::NothingChanges => f.write_str("old and new text are the same, so nothing would change"),
            Self::NothingToFind => f.write_str("the old text is empty but the file is not; quote the lines next to which the new text belongs"),
            Self::NoPlace => f.write_str("nothing in this insertion says where it belongs; quote a line before or after it"),
            Self::Unclear(doubt) => doubt.fmt(f),
            Self::Overlaps { hunk } => write!(f, "this changes lines that hunk {} changes too; make them one hunk", hunk + 1),
            Self::Stale { rows } => write!(
                f,
                "lines {} to {} changed after they were read; read them again",
                rows.start.0 + 1,
                rows.end.0.max(rows.start.0 + 1)
            ),
            Self::ElidedReplacement(line) => write!(f, "the line {line:?} of the new text stands for lines that it would delete; write those lines out in full"),
            Self::OtherContent => f.write_str("the file holds other lines than those that this diff deletes; read it again, and delete it by quoting all of its lines or by its path alone"),
            Self::OtherEndings => f.write_str("the edit changes line endings (CRLF, LF) of lines that the file ends otherwise; quote their endings as they are in the file"),
            Self::AnchorMoved { anchor } => write!(f, "the line {anchor} is not in the file any more; use the anchors given here"),
            Self::AnchorsReversed => f.write_str("the last line lies before the first; name them in order"),
            Self::NoFile => f.write_str("there is no such file; check the path, or create the file"),
            Self::FileExists => f.write_str("there is a file at this path already; update it instead"),
            Self::BadPath(reason) | Self::Unreadable(reason) => f.write_str(reason),
            Self::Empty => f.write_str("no change is given for this file"),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boundary => "the old text leaves out or adds a line right where the change is; quote the lines there exactly",
            Self::ChangedTypo => "a line that changes is misspelt in the old text; quote it exactly",
            Self::Indentation => "how far the new lines are to be indented is not clear; indent old and new text as the file does",
            Self::Punctuation => {
                "whether quotes in the new text are meant as written is not clear; quote the old text with the signs that the file has"
            }
            Self::Escapes => "whether escapes in the new text are meant as written is not clear; write the text without extra escapes",
            Self::Elision => "old and new text must leave out the same parts by `...`, and what is left must be unmistakable; write the lines in full",
            Self::AlreadyThere => {
                "this change is already there: the file reads as the new text does; leave it out, or quote more of the lines around it if it is meant once more"
            }
            Self::BlankEdge => "the new text begins or ends with blank lines, some of which the file has already; quote those in the old text too",
        })
    }
}

/// What became of one hunk.
#[derive(Clone, Debug, PartialEq)]
pub struct HunkReport {
    /// Its place among the hunks or operations of its file's edit, from 0.
    pub hunk: usize,
    /// What became of it.
    pub outcome: Outcome,
    /// How its place was found; `None` unless it lands.
    pub rung: Option<Rung>,
    /// The rows of the text before that it was matched with; empty for an insertion.
    pub rows: Option<Range<Row>>,
    /// In what the text of the hunk and the file differ, sorted.
    pub differences: Vec<Difference>,
    /// Why it does not land.
    pub refusal: Option<Refusal>,
    /// For one that does not land, up to three places it may have meant, the likeliest first.
    pub nearest: Vec<Place>,
    /// For one that lands in spite of differences, the lines as they read afterwards.
    pub now: Option<Place>,
    /// Where the new text already stands, if the hunk does not land.
    pub already_at: Option<Row>,
    /// The bytes of the model's text that it was read from.
    pub source: Range<usize>,
}

impl HunkReport {
    /// The line where it landed, counted from 1.
    pub fn line(&self) -> Option<u32> {
        self.rows.as_ref().map(|rows| rows.start.0 + 1)
    }

    pub(crate) fn refused(hunk: usize, refusal: Refusal, source: Range<usize>) -> Self {
        Self {
            hunk,
            outcome: refusal.outcome(),
            rung: None,
            rows: None,
            differences: Vec::new(),
            refusal: Some(refusal),
            nearest: Vec::new(),
            now: None,
            already_at: None,
            source,
        }
    }

    pub(crate) fn landed(
        hunk: usize,
        rung: Rung,
        rows: Range<usize>,
        source: Range<usize>,
    ) -> Self {
        Self {
            hunk,
            outcome: Outcome::Exact,
            rung: Some(rung),
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
pub struct Place {
    /// The first of them.
    pub row: Row,
    /// As they stand in the file, joined by `\n`, a long place cut short.
    pub text: String,
    /// From 0 to 1: how much of the old text stands there.
    pub similarity: f32,
}
