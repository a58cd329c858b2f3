//! Corrupts blocks as models corrupt the text that they quote.

use rand::Rng;
use rand::rngs::StdRng;

use crate::edit::Grain;
use crate::fold;

use super::super::sources::Language;
use super::{Edit, joined};

/// A class of corruption.
pub(super) struct Class {
    pub(super) name: &'static str,
    /// Corrupts an edit; `None` if the class does not apply, or if the meaning would become
    /// ambiguous.
    pub(super) spoil: fn(&Edit, Language, &mut StdRng) -> Option<Corruption>,
    /// Minimum share of correct results; 0 if only wrong results count.
    pub(super) floor: f64,
}

/// A corrupted block, and the file if it differs from that of the edit.
#[derive(Clone, Debug)]
pub(super) struct Corruption {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) grain: Grain,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

pub(super) const CLASSES: &[Class] = &[
    class("none", 0.998, |edit, _, _| lines(&edit.old, &edit.new)),
    class("none, any text", 0.998, |edit, _, _| any_text(edit)),
    class("trailing space, all lines", 0.98, |edit, _, _| {
        let spoil = |line: &String| {
            if line.is_empty() {
                String::new()
            } else {
                format!("{line} ")
            }
        };
        changed(edit, spoil)
    }),
    class("trailing space, one old line", 0.98, |edit, _, random| {
        let mut old = edit.old.clone();
        let ix = random.random_range(0..old.len());
        old[ix].push_str("  ");
        lines(&old, &edit.new)
    }),
    class("common dedent", 0.98, dedent),
    class("4 to 2", 0.98, |edit, _, _| scale(edit, "    ", "  ")),
    class("2 to 4", 0.98, |edit, language, _| {
        (language == Language::Script)
            .then(|| scale(edit, "  ", "    "))
            .flatten()
    }),
    class("tabs to spaces", 0.98, |edit, _, _| {
        scale(edit, "\t", "    ")
    }),
    class("spaces to tabs", 0.98, |edit, language, _| {
        let is_four = matches!(language, Language::Rust | Language::Python);
        is_four.then(|| scale(edit, "    ", "\t")).flatten()
    }),
    class("blank dropped, both", 0.75, |edit, _, random| {
        blank_dropped(edit, random, true)
    }),
    class("blank dropped, old", 0.75, |edit, _, random| {
        blank_dropped(edit, random, false)
    }),
    class("any blank dropped, old", 0.0, any_blank_dropped),
    class("any blank dropped, both", 0.0, any_blank_dropped_in_both),
    class("blank added, both", 0.9, blank_added),
    class("typo in context, both", 0.98, |edit, _, random| {
        typo(edit, random, true)
    }),
    class("typo in context, old", 0.98, |edit, _, random| {
        typo(edit, random, false)
    }),
    class("typo anywhere", 0.0, typo_anywhere),
    class("elision", 0.98, elision),
    class("curly quotes, both", 0.98, |edit, _, _| curly(edit, true)),
    class("curly quotes, old", 0.98, |edit, _, _| curly(edit, false)),
    class("returns", 0.998, |edit, _, _| {
        let (old, new) = (joined(&edit.old), joined(&edit.new));
        Some(Corruption::new(
            old.replace('\n', "\r\n"),
            new.replace('\n', "\r\n"),
        ))
    }),
    class("escaped quotes", 0.98, escaped),
    class("no final feed", 0.998, no_final_feed),
    class("copy elsewhere", 0.0, copy_elsewhere),
    class("applied already", 0.0, applied_already),
    class("placeholder", 0.0, placeholder),
    class("wrapped in another unit", 0.9, wrapped_in_another_unit),
    class("plain for typographic quotes", 0.98, plain_for_typographic),
    class("returns in the file", 0.998, returns_in_file),
    class(
        "dedent and trailing space",
        0.98,
        |edit, language, random| {
            let spoilt = dedent(edit, language, random)?;
            let old = spoilt.old.replace(";\n", "; \n");
            (old != spoilt.old).then(|| Corruption::new(old, spoilt.new))
        },
    ),
];

const fn class(
    name: &'static str,
    floor: f64,
    spoil: fn(&Edit, Language, &mut StdRng) -> Option<Corruption>,
) -> Class {
    Class { name, spoil, floor }
}

impl Corruption {
    fn new(old: String, new: String) -> Self {
        Self {
            old,
            new,
            grain: Grain::Lines,
            before: None,
            after: None,
        }
    }
}

fn lines(old: &[String], new: &[String]) -> Option<Corruption> {
    Some(Corruption::new(joined(old), joined(new)))
}

/// Corrupts both sides line by line; `None` if the old side stays the same.
fn changed(edit: &Edit, spoil: impl Fn(&String) -> String) -> Option<Corruption> {
    let (old, new): (Vec<_>, Vec<_>) = (
        edit.old.iter().map(&spoil).collect(),
        edit.new.iter().map(&spoil).collect(),
    );
    (old != edit.old).then(|| lines(&old, &new)).flatten()
}

fn any_text(edit: &Edit) -> Option<Corruption> {
    let trimmed = |lines: &[String]| joined(lines).strip_suffix('\n').map(str::to_owned);
    let mut spoilt = Corruption::new(trimmed(&edit.old)?, trimmed(&edit.new)?);
    spoilt.grain = Grain::Text;
    // As text, it may also occur inside lines.
    let is_unique = joined(&edit.before).matches(&spoilt.old).count() == 1;
    is_unique.then_some(spoilt)
}

fn dedent(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let filled = edit
        .old
        .iter()
        .chain(&edit.new)
        .filter(|line| !line.is_empty());
    let least = filled
        .clone()
        .map(|line| fold::indent(line))
        .min_by_key(|indent| indent.len())?;
    let is_common = filled.clone().all(|line| line.starts_with(least));
    let old = edit.old.iter().filter(|line| !line.is_empty());
    let is_least_of_old = old.map(|line| fold::indent(line).len()).min() == Some(least.len());
    if least.is_empty() || !is_common || !is_least_of_old {
        return None;
    }
    changed(edit, |line| {
        line.strip_prefix(least).unwrap_or(line).to_owned()
    })
}

/// Changes the unit of indentation on both sides.
fn scale(edit: &Edit, from: &str, to: &str) -> Option<Corruption> {
    let spoil = |line: &String| {
        let mut rest = line.as_str();
        let mut spoilt = String::new();
        while let Some(after) = rest.strip_prefix(from) {
            spoilt.push_str(to);
            rest = after;
        }
        spoilt + rest
    };
    let is_whole = |line: &String| fold::indent(line).replace(from, "").is_empty();
    let is_all_whole = edit
        .old
        .iter()
        .chain(&edit.new)
        .chain(&edit.before)
        .all(is_whole);
    if !is_all_whole {
        return None;
    }
    changed(edit, spoil)
}

/// Returns the indexes of the unchanged lines before and after the change, in the old and in the
/// new text.
fn kept_lines(edit: &Edit) -> Vec<(usize, usize)> {
    let (head, tail) = edit.kept;
    let shift = |ix: usize| ix + edit.new.len() - edit.old.len();
    let behind = (edit.old.len() - tail..edit.old.len()).map(|ix| (ix, shift(ix)));
    (0..head).map(|ix| (ix, ix)).chain(behind).collect()
}

fn without(lines: &[String], ix: usize) -> Vec<String> {
    let mut lines = lines.to_vec();
    lines.remove(ix);
    lines
}

/// Drops a blank line among unchanged lines, away from the change and the ends of the block.
fn blank_dropped(edit: &Edit, random: &mut StdRng, both: bool) -> Option<Corruption> {
    let (head, tail) = edit.kept;
    let kept = kept_lines(edit);
    let filled = edit.old.iter().filter(|line| !line.is_empty()).count();
    let inner = kept.iter().filter(|(ix, _)| {
        let is_away =
            (*ix + 1 < head || *ix > edit.old.len() - tail) && *ix > 0 && *ix + 1 < edit.old.len();
        is_away
            && edit.old[*ix].is_empty()
            && !edit.old[ix - 1].is_empty()
            && !edit.old[ix + 1].is_empty()
    });
    let inner: Vec<_> = inner.collect();
    if inner.is_empty() || filled < 3 {
        return None;
    }
    let (ix, in_new) = *inner[random.random_range(0..inner.len())];
    let new = if both {
        without(&edit.new, in_new)
    } else {
        edit.new.clone()
    };
    lines(&without(&edit.old, ix), &new)
}

/// Drops the first blank line of the old text only.
fn any_blank_dropped(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let ix = edit.old.iter().position(String::is_empty)?;
    // Without a blank line that the edit removes, the block would be another valid edit.
    let runs = crate::diff::diff(edit.old.len(), edit.new.len(), |a, b| {
        edit.old[a] == edit.new[b]
    });
    // The same holds at an end of the block, where no neighbouring line shows that the blank line
    // was meant to stay.
    let is_end = (ix == 0 && edit.kept.0 < 2) || (ix + 1 == edit.old.len() && edit.kept.1 < 2);
    if is_end || is_beside_blank(edit, ix) || runs.iter().any(|run| run.old.contains(&ix)) {
        return None;
    }
    let old = without(&edit.old, ix);
    // Without the blank line, the block may be empty or occur elsewhere.
    (!old.is_empty() && stands_at_most(edit, &old, 1))
        .then(|| lines(&old, &edit.new))
        .flatten()
}

/// Drops any unchanged blank line from both texts.
fn any_blank_dropped_in_both(edit: &Edit, _: Language, random: &mut StdRng) -> Option<Corruption> {
    let kept: Vec<_> = kept_lines(edit)
        .into_iter()
        .filter(|(ix, _)| edit.old[*ix].is_empty())
        .collect();
    if kept.is_empty() {
        return None;
    }
    let (ix, in_new) = kept[random.random_range(0..kept.len())];
    // If the blank line is at the end of only one text, the block without it is another edit.
    let is_end = [
        (ix == 0, in_new == 0),
        (ix + 1 == edit.old.len(), in_new + 1 == edit.new.len()),
    ];
    if is_paired(edit, ix) || is_end.iter().any(|(old, new)| old != new) {
        return None;
    }
    let old = without(&edit.old, ix);
    stands_at_most(edit, &old, 1)
        .then(|| lines(&old, &without(&edit.new, in_new)))
        .flatten()
}

/// Returns whether this blank line is next to another one near an end of the block.
fn is_paired(edit: &Edit, ix: usize) -> bool {
    is_beside_blank(edit, ix) && edit.kept.0.min(edit.kept.1) < 3
}

/// Returns whether this blank line is next to another one. Then it is ambiguous which of the two is
/// meant, and the other may be the changed one.
fn is_beside_blank(edit: &Edit, ix: usize) -> bool {
    let beside = [ix.checked_sub(1), Some(ix + 1)].into_iter().flatten();
    let mut beside = beside.filter_map(|ix| edit.old.get(ix));
    beside.any(String::is_empty)
}

fn stands_at_most(edit: &Edit, old: &[String], count: usize) -> bool {
    edit.before
        .windows(old.len().max(1))
        .filter(|window| *window == old)
        .count()
        <= count
}

fn blank_added(edit: &Edit, _: Language, random: &mut StdRng) -> Option<Corruption> {
    let (head, tail) = edit.kept;
    let behind = edit.old.len() - tail;
    // Between two unchanged lines that are neither blank nor next to the change.
    let places: Vec<usize> = (1..edit.old.len())
        .filter(|ix| {
            (*ix < head || *ix > behind)
                && !edit.old[*ix].is_empty()
                && !edit.old[ix - 1].is_empty()
        })
        .collect();
    if places.is_empty() {
        return None;
    }
    let ix = places[random.random_range(0..places.len())];
    let in_new = if ix < head {
        ix
    } else {
        ix + edit.new.len() - edit.old.len()
    };
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    old.insert(ix, String::new());
    new.insert(in_new, String::new());
    lines(&old, &new)
}

/// Replaces an inner letter of a word of at least five letters; `None` if there is no such word.
fn misspelt(line: &str, random: &mut StdRng) -> Option<String> {
    let signs: Vec<char> = line.chars().collect();
    let is_inner = |ix: &usize| {
        let around = signs.get(ix.saturating_sub(2)..ix + 3);
        around.is_some_and(|around| around.iter().all(char::is_ascii_alphabetic))
    };
    let places: Vec<usize> = (2..signs.len()).filter(is_inner).collect();
    if places.is_empty() {
        return None;
    }
    let ix = places[random.random_range(0..places.len())];
    let letter = ('a'..='z')
        .nth(random.random_range(0..26))
        .filter(|letter| *letter != signs[ix])?;
    let spoilt = signs
        .iter()
        .enumerate()
        .map(|(at, sign)| if at == ix { letter } else { *sign });
    Some(spoilt.collect())
}

/// Misspells an unchanged line of a block that is long enough to be recognized.
fn typo(edit: &Edit, random: &mut StdRng, both: bool) -> Option<Corruption> {
    let filled = edit.old.iter().filter(|line| !line.is_empty()).count();
    let kept: Vec<_> = kept_lines(edit)
        .into_iter()
        .filter(|(ix, _)| edit.old[*ix].len() > 8)
        .collect();
    if kept.is_empty() || filled < 3 {
        return None;
    }
    let (ix, in_new) = kept[random.random_range(0..kept.len())];
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    old[ix] = misspelt(&old[ix], random)?;
    if both {
        new[in_new].clone_from(&old[ix]);
    }
    lines(&old, &new)
}

fn typo_anywhere(edit: &Edit, _: Language, random: &mut StdRng) -> Option<Corruption> {
    let mut old = edit.old.clone();
    let ix = random.random_range(0..old.len());
    old[ix] = misspelt(&old[ix], random)?;
    // The misspelt line may equal a line of the new text.
    if edit.new.contains(&old[ix]) {
        return None;
    }
    stands_at_most(edit, &old, 0)
        .then(|| lines(&old, &edit.new))
        .flatten()
}

/// Replaces unchanged lines between the first lines and the change with `...`.
fn elision(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    // Extends the block upwards, so that there are lines to omit.
    let head = edit.rows.start + edit.kept.0;
    let start = head.checked_sub(7)?;
    let more = edit.before[start..edit.rows.start].to_vec();
    let old = [more.clone(), edit.old.clone()].concat();
    let new = [more, edit.new.clone()].concat();
    let kept = head - start;
    let spoilt = |lines: &[String]| [&lines[..2], &["...".to_owned()], &lines[kept - 2..]].concat();
    let (first, last) = (&old[..2], &old[kept - 2..]);
    let is_once = |lines: &[String]| {
        stands_at_most(edit, lines, 1) && lines.iter().any(|line| line.len() > 6)
    };
    (is_once(first) && is_once(last))
        .then(|| lines(&spoilt(&old), &spoilt(&new)))
        .flatten()
}

fn curly(edit: &Edit, both: bool) -> Option<Corruption> {
    let spoil = |line: &String| {
        let mut is_open = false;
        let signs = line.chars().map(|sign| match sign {
            '"' => {
                is_open = !is_open;
                if is_open { '\u{201c}' } else { '\u{201d}' }
            }
            '\'' => '\u{2019}',
            sign => sign,
        });
        signs.collect::<String>()
    };
    let old: Vec<_> = edit.old.iter().map(spoil).collect();
    let new: Vec<_> = edit.new.iter().map(spoil).collect();
    if old == edit.old
        || edit
            .old
            .iter()
            .chain(&edit.new)
            .any(|line| !line.is_ascii())
    {
        return None;
    }
    lines(&old, if both { &new } else { &edit.new })
}

fn escaped(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let all = || edit.old.iter().chain(&edit.new);
    if all().any(|line| line.contains('\\')) {
        return None;
    }
    changed(edit, |line| line.replace('"', "\\\""))
}

fn no_final_feed(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let bare = |lines: &[String]| joined(lines).strip_suffix('\n').map(str::to_owned);
    // With a blank last line, the file would still end with a line feed.
    if edit.before.last()?.is_empty() || edit.after().last()?.is_empty() {
        return None;
    }
    let mut spoilt = lines(&edit.old, &edit.new)?;
    spoilt.before = bare(&edit.before);
    spoilt.after = bare(&edit.after());
    Some(spoilt)
}

/// Adds a copy of the block to the file, so that the place is ambiguous.
fn copy_elsewhere(edit: &Edit, _: Language, random: &mut StdRng) -> Option<Corruption> {
    let mut before = edit.before.clone();
    let mut after = edit.after();
    if random.random_bool(0.5) {
        before.extend(edit.old.iter().cloned());
        after.extend(edit.old.iter().cloned());
    } else {
        before.splice(0..0, edit.old.iter().cloned());
        after.splice(0..0, edit.old.iter().cloned());
    }
    let mut spoilt = lines(&edit.old, &edit.new)?;
    spoilt.before = Some(joined(&before));
    spoilt.after = Some(joined(&after));
    Some(spoilt)
}

/// Applies the edit in advance; the file must stay unchanged. Edits that only add blank lines are
/// excluded, because they can be repeated.
fn applied_already(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let runs = crate::diff::diff_lines(&edit.old, &edit.new);
    let adds_alone = runs.iter().all(|run| run.old.is_empty());
    let mut added = runs.iter().flat_map(|run| &edit.new[run.new.clone()]);
    if !adds_alone || !added.any(|line| !line.is_empty()) {
        return None;
    }
    let mut spoilt = lines(&edit.old, &edit.new)?;
    spoilt.before = Some(joined(&edit.after()));
    spoilt.after = spoilt.before.clone();
    Some(spoilt)
}

/// Replaces the last lines with a placeholder comment; only a refusal is correct.
fn placeholder(edit: &Edit, _: Language, random: &mut StdRng) -> Option<Corruption> {
    const LINES: [&str; 6] = [
        "// ... existing code ...",
        "# (rest of the methods ...)",
        "/* ... */",
        "// rest of the code unchanged",
        "-- same as before",
        "...",
    ];
    let count = edit.old.iter().filter(|line| !line.is_empty()).count();
    if count < 3 || edit.old[0].ends_with(':') {
        return None;
    }
    let line = LINES[random.random_range(0..LINES.len())];
    let indent = fold::indent(&edit.old[0]);
    let new = [edit.old[0].clone(), format!("{indent}{line}")];
    let mut spoilt = lines(&edit.old, &new)?;
    spoilt.after = Some("nothing".to_owned());
    Some(spoilt)
}

/// Wraps the lines in a new block, with another unit of indentation than the file.
fn wrapped_in_another_unit(
    edit: &Edit,
    language: Language,
    random: &mut StdRng,
) -> Option<Corruption> {
    let unit = language.unit();
    let others: Vec<&str> = ["  ", "    ", "\t", "        "]
        .into_iter()
        .filter(|other| *other != unit)
        .collect();
    let other = others[random.random_range(0..others.len())];
    // The first line stays in place; the others become deeper.
    let inner = &edit.old[1..];
    let filled = inner.iter().filter(|line| !line.is_empty());
    let base = filled.map(|line| fold::indent(line)).min()?.to_owned();
    let opens = fold::indent(&edit.old[0]).len() <= base.len();
    if !opens || edit.old.iter().filter(|line| !line.is_empty()).count() < 3 {
        return None;
    }
    let wrapped = inner.iter().map(|line| {
        if line.is_empty() {
            String::new()
        } else {
            format!("{unit}{line}")
        }
    });
    let mut new = vec![edit.old[0].clone(), format!("{base}with lock:")];
    new.extend(wrapped);
    let edit = Edit {
        new,
        ..edit.clone()
    };
    let mut spoilt = scale(&edit, unit, other)?;
    spoilt.after = Some(joined(&edit.after()));
    Some(spoilt)
}

/// The file has typographic quotes, which the block quotes as plain ones. Changed lines contain no
/// quotes.
fn plain_for_typographic(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let is_plain = edit.old.iter().chain(&edit.new).all(|line| line.is_ascii());
    let has_quote = |line: &String| line.contains(['"', '\'']);
    let runs = crate::diff::diff_lines(&edit.old, &edit.new);
    let mut changed = runs.iter().flat_map(|run| {
        let gone = &edit.old[run.old.clone()];
        gone.iter().chain(&edit.new[run.new.clone()])
    });
    if !is_plain || !edit.old.iter().any(has_quote) || changed.any(has_quote) {
        return None;
    }
    let typographic = |text: String| text.replace('"', "\u{201d}").replace('\'', "\u{2019}");
    let mut spoilt = lines(&edit.old, &edit.new)?;
    spoilt.before = Some(typographic(joined(&edit.before)));
    spoilt.after = Some(typographic(joined(&edit.after())));
    Some(spoilt)
}

fn returns_in_file(edit: &Edit, _: Language, _: &mut StdRng) -> Option<Corruption> {
    let returns = |lines: &[String]| joined(lines).replace('\n', "\r\n");
    let mut spoilt = lines(&edit.old, &edit.new)?;
    spoilt.before = Some(format!("\u{feff}{}", returns(&edit.before)));
    spoilt.after = Some(format!("\u{feff}{}", returns(&edit.after())));
    Some(spoilt)
}
