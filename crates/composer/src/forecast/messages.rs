//! Messages about predicted conflicts, for the user and for agents.

use git::merge::TreePath;

use super::pairs::PairConflict;
use super::{ConflictLocation, ForecastConflict, ForecastParty};
use crate::conflict::conflict_kind_text;

/// A party with its title.
type NamedSide<'a> = (&'a ForecastParty, &'a str);

/// Describes a conflict of two sides to the user, and to each side that is a session.
pub(super) fn forecast_conflict(
    one: NamedSide<'_>,
    two: NamedSide<'_>,
    found: &PairConflict,
) -> ForecastConflict {
    let mut for_agents = Vec::new();
    let mut notify = |me: NamedSide<'_>, other: NamedSide<'_>, side: SideIndex| {
        if let ForecastParty::Session(session) = me.0 {
            let place = location_text(&found.path, &found.locations, side);
            let sentence = format!(
                "{} also changes {place}, in conflict with you: {}. Keep your change there small, \
                 or leave it out and report that.",
                side_name_for_agent(other),
                conflict_kind_text(found.kind)
            );
            for_agents.push((session.clone(), sentence));
        }
    };
    notify(one, two, SideIndex::One);
    notify(two, one, SideIndex::Two);
    let mut conflict = ForecastConflict {
        one: one.0.clone(),
        two: two.0.clone(),
        path: found.path.clone(),
        kind: found.kind,
        locations: found.locations.clone(),
        for_person: String::new(),
        for_agents,
    };
    conflict.for_person = conflict.sentence_for(&side_name(one), &side_name(two));
    conflict
}

impl ForecastConflict {
    /// Returns a sentence for the user, with `one` and `two` as the names of the sides.
    pub fn sentence_for(&self, one: &str, two: &str) -> String {
        let place = location_text(&self.path, &self.locations, SideIndex::One);
        let kind = conflict_kind_text(self.kind);
        format!(
            "{one} and {two} conflict in {place}: {kind}. The one that lands second will need your \
             decision."
        )
    }
}

/// Returns a sentence about a symbol that both sides change on different lines.
pub(super) fn overlap_sentence(
    one: NamedSide<'_>,
    two: NamedSide<'_>,
    path: &TreePath,
    symbol: &str,
) -> String {
    format!(
        "{} and {} both change {symbol} in {path}, on different lines: they merge cleanly, but \
         review the result.",
        side_name(one),
        side_name(two)
    )
}

#[derive(Clone, Copy)]
enum SideIndex {
    One,
    Two,
}

/// Formats a location: `flags.rs, lines 10–14 in parse`.
fn location_text(path: &TreePath, spots: &[ConflictLocation], side: SideIndex) -> String {
    let locations: Vec<String> = spots
        .iter()
        .take(3)
        .map(|spot| {
            let range = match side {
                SideIndex::One => &spot.one,
                SideIndex::Two => &spot.two,
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
    if locations.is_empty() {
        path.to_string()
    } else {
        format!("{path}, {}{more}", locations.join("; "))
    }
}

fn side_name((who, title): NamedSide<'_>) -> String {
    match who {
        ForecastParty::Branch => format!("new commits on {title}"),
        ForecastParty::Person => "your uncommitted changes".to_owned(),
        ForecastParty::Session(_) => format!("“{title}”"),
    }
}

fn side_name_for_agent((who, title): NamedSide<'_>) -> String {
    match who {
        ForecastParty::Branch => format!("The branch {title}, since you started,"),
        ForecastParty::Person => "The user, in uncommitted work,".to_owned(),
        ForecastParty::Session(_) => format!("Another agent (“{title}”)"),
    }
}
