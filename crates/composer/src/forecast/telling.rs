//! Sentences about what is foreseen, for the person and for agents.

use git::merge::{ConflictKind, TreePath};

use super::pairs::Found;
use super::{Foreseen, Spot, Who};

/// A side with its title.
type Told<'a> = (&'a Who, &'a str);

/// What a kind of conflict is, in words.
pub fn kind_told(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Content => "both change the same lines",
        ConflictKind::Binary => "both change a file without lines",
        ConflictKind::BothAdded => "both add a file of this name",
        ConflictKind::RemovedByThem => "one changes it, the other removes it",
        ConflictKind::RemovedByUs => "one removes it, the other changes it",
        ConflictKind::BothRenamed => "both rename it, to different names",
        ConflictKind::FileAndFolder => "one has a file where the other has a folder",
        ConflictKind::Kind => "each makes something else of it",
        ConflictKind::FolderMoved => "one adds it to a folder that the other renames",
    }
}

pub(super) fn conflict(one: Told<'_>, two: Told<'_>, found: &Found) -> Foreseen {
    let mut for_agents = Vec::new();
    let mut tell = |me: Told<'_>, other: Told<'_>, side: Side| {
        if let Who::Session(session) = me.0 {
            let place = place(&found.path, &found.spots, side);
            let sentence = format!(
                "{} also changes {place}, otherwise than you: {}. Keep your change there small, or leave it and \
                 say so.",
                for_agent(other),
                kind_told(found.kind)
            );
            for_agents.push((session.clone(), sentence));
        }
    };
    tell(one, two, Side::One);
    tell(two, one, Side::Two);
    let mut foreseen = Foreseen {
        one: one.0.clone(),
        two: two.0.clone(),
        path: found.path.clone(),
        kind: found.kind,
        spots: found.spots.clone(),
        for_person: String::new(),
        for_agents,
    };
    foreseen.for_person = foreseen.said_of(&name(one), &name(two));
    foreseen
}

impl Foreseen {
    /// A sentence for the person, with these names of the two sides.
    pub fn said_of(&self, one: &str, two: &str) -> String {
        let place = place(&self.path, &self.spots, Side::One);
        let kind = kind_told(self.kind);
        format!(
            "{one} and {two} are in conflict in {place}: {kind}. Whichever lands second needs your decision."
        )
    }
}

pub(super) fn near(one: Told<'_>, two: Told<'_>, path: &TreePath, symbol: &str) -> String {
    format!(
        "{} and {} both change {symbol} in {path}, on different lines: they merge, but read the result.",
        name(one),
        name(two)
    )
}

#[derive(Clone, Copy)]
enum Side {
    One,
    Two,
}

/// `flags.rs, lines 10–14 in parse`.
fn place(path: &TreePath, spots: &[Spot], side: Side) -> String {
    let told: Vec<String> = spots
        .iter()
        .take(3)
        .map(|spot| {
            let range = match side {
                Side::One => &spot.one,
                Side::Two => &spot.two,
            };
            let lines = match range.end.saturating_sub(range.start) {
                0 => format!("before line {}", range.start),
                1 => format!("line {}", range.start),
                _ => format!("lines {}–{}", range.start, range.end - 1),
            };
            match &spot.symbol {
                Some(symbol) => format!("{lines} in {symbol}"),
                None => lines,
            }
        })
        .collect();
    let more = match spots.len().saturating_sub(3) {
        0 => String::new(),
        more => format!(" and {more} more places"),
    };
    match told.is_empty() {
        true => path.to_string(),
        false => format!("{path}, {}{more}", told.join("; ")),
    }
}

fn name((who, title): Told<'_>) -> String {
    match who {
        Who::Branch => format!("what {title} has got since"),
        Who::Person => "what you have not committed".to_owned(),
        Who::Session(_) => format!("“{title}”"),
    }
}

fn for_agent((who, title): Told<'_>) -> String {
    match who {
        Who::Branch => format!("The branch {title}, since you began,"),
        Who::Person => "The person, in work that is not committed,".to_owned(),
        Who::Session(_) => format!("Another agent (“{title}”)"),
    }
}
