//! Proposals for conflicts in which both changes can be kept. A proposal is shown, never applied by
//! itself.
//!
//! Start at `propose`.

use text::{Splice, diff_words};

use super::marker_text::without_ending;

/// Maximum length in bytes of a side for which words are compared.
const MAX_WORDS: usize = 64 << 10;

/// First words of lines that import a name, in common languages.
const IMPORTS: &[&str] = &[
    "use ",
    "pub use ",
    "pub(crate) use ",
    "import ",
    "from ",
    "#include ",
    "using ",
    "require ",
    "mod ",
    "pub mod ",
    "extern crate ",
];

/// A text that keeps the changes of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeProposal {
    /// The text in place of the conflict.
    pub text: String,
    /// The reason that both changes fit.
    pub reason: ProposalReason,
}

/// The reason that the changes of both sides fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalReason {
    /// Both sides changed different words of the same lines.
    OtherWords,
    /// Both sides only added imports.
    AddedImports,
    /// Both sides only added items of a list.
    AddedItems,
}

impl ProposalReason {
    /// Returns a sentence for the user.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::OtherWords => "Both sides changed different words of these lines.",
            Self::AddedImports => "Both sides only added imports.",
            Self::AddedItems => "Both sides only added items of a list.",
        }
    }
}

/// Returns a text that keeps the changes of both sides, if they fit. `None` if the base is not known.
pub(super) fn propose(base: Option<&str>, ours: &str, theirs: &str) -> Option<MergeProposal> {
    let base = base?;
    if base.is_empty() {
        return added_lines(ours, theirs);
    }
    other_words(base, ours, theirs)
}

/// Merges the changed words of both sides, unless two changes touch.
fn other_words(base: &str, ours: &str, theirs: &str) -> Option<MergeProposal> {
    let is_long = [base, ours, theirs].iter().any(|it| it.len() > MAX_WORDS);
    if is_long || ours.is_empty() || theirs.is_empty() {
        return None;
    }
    let changes = |side: &str| -> Vec<(Splice, String)> {
        let splices = diff_words(base, side).into_iter();
        let with_text = splices.map(|it| (it, side[it.new.range()].to_owned()));
        with_text.collect()
    };
    let (mut one, mut two) = (changes(ours), changes(theirs));
    // A change that both sides made counts once.
    two.retain(|(splice, text)| {
        let is_same = |(other, words): &(Splice, String)| other.old == splice.old && words == text;
        !one.iter().any(is_same)
    });
    if one.is_empty() || two.is_empty() {
        return None;
    }
    one.append(&mut two);
    one.sort_by_key(|(splice, _)| (splice.old.start, splice.old.end));
    let touches = |pair: &[(Splice, String)]| pair[1].0.old.start <= pair[0].0.old.end;
    if one.windows(2).any(touches) {
        return None;
    }
    let (mut text, mut at) = (String::new(), 0);
    for (splice, words) in &one {
        text.push_str(&base[at..splice.old.start.0]);
        text.push_str(words);
        at = splice.old.end.0;
    }
    text.push_str(&base[at..]);
    Some(MergeProposal {
        text,
        reason: ProposalReason::OtherWords,
    })
}

/// Joins lines that both sides added at one place, if their order has no meaning.
fn added_lines(ours: &str, theirs: &str) -> Option<MergeProposal> {
    let (one, two) = (lines_of(ours), lines_of(theirs));
    if one.is_empty() || two.is_empty() {
        return None;
    }
    let all = |is_kind: fn(&str) -> bool| {
        let lines = one.iter().chain(&two);
        lines.map(|line| line.trim()).all(is_kind)
    };
    let reason = if all(is_import) {
        ProposalReason::AddedImports
    } else if all(is_list_item) {
        ProposalReason::AddedItems
    } else {
        return None;
    };
    let mut lines = one.clone();
    let is_new = |line: &&str| {
        !one.iter()
            .any(|it| without_ending(it) == without_ending(line))
    };
    lines.extend(two.iter().copied().filter(is_new));
    let is_sorted = |lines: &[&str]| lines.windows(2).all(|two| two[0] <= two[1]);
    if reason == ProposalReason::AddedImports && is_sorted(&one) && is_sorted(&two) {
        lines.sort_unstable();
    }
    Some(MergeProposal {
        text: lines.concat(),
        reason,
    })
}

/// Returns the lines with their endings; none if the last one has no ending, because it cannot be
/// moved.
fn lines_of(text: &str) -> Vec<&str> {
    let lines = text.split_inclusive('\n');
    if text.ends_with('\n') {
        lines.collect()
    } else {
        Vec::new()
    }
}

fn is_import(line: &str) -> bool {
    // An import of several lines is not recognized.
    IMPORTS.iter().any(|start| line.starts_with(start)) && !line.ends_with(['{', '(', ',', '\\'])
}

fn is_list_item(line: &str) -> bool {
    let opens = line.matches(['(', '[', '{']).count();
    let closes = line.matches([')', ']', '}']).count();
    let is_bullet = line.starts_with("- ") || line.starts_with("* ");
    opens == closes && (is_bullet || (line.ends_with(',') && line.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::{ProposalReason, propose};

    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: Option<(&str, ProposalReason)>) {
        let found = propose(Some(base), ours, theirs);
        let found = found.as_ref().map(|it| (it.text.as_str(), it.reason));
        assert_eq!(found, expected, "of {base:?} {ours:?} {theirs:?}");
    }

    #[test]
    fn changes_of_different_words_are_joined() {
        check(
            "fn read(path: Path, size: u32)\n",
            "fn load(path: Path, size: u32)\n",
            "fn read(path: Path, size: u64)\n",
            Some((
                "fn load(path: Path, size: u64)\n",
                ProposalReason::OtherWords,
            )),
        );
        check("one two\n", "ONE two\n", "uno two\n", None);
        // The changes touch.
        check("a(b)\n", "x(b)\n", "a[b)\n", None);
        check("one two\n", "", "one 2\n", None);
        assert_eq!(propose(None, "a b\n", "c d\n"), None);
    }

    #[test]
    fn added_imports_and_items_are_joined() {
        check(
            "",
            "use a;\nuse c;\n",
            "use b;\nuse c;\n",
            Some(("use a;\nuse b;\nuse c;\n", ProposalReason::AddedImports)),
        );
        check(
            "",
            "    Blue,\n",
            "    Amber,\n    Blue,\n",
            Some(("    Blue,\n    Amber,\n", ProposalReason::AddedItems)),
        );
        check("", "run(1);\n", "run(2);\n", None);
        check("", "use a::{\n", "use b;\n", None);
        check("", "f(a,\n", "b,\n", None);
        check("", "use a;", "use b;\n", None);
    }
}
