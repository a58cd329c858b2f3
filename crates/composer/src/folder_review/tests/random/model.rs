//! The model: every line that a file had, with the hands that added and removed it.

/// A line of the model. All texts are distinct, and no author but Git and an undo puts a line back,
/// except for lines of the first commit.
#[derive(Clone, Debug)]
pub(super) struct ModelLine {
    pub(super) text: String,
    pub(super) added: Hand,
    /// The authors of the text if a formatter wrote it from lines of agents, and whether the user
    /// keeps it.
    pub(super) shares: Vec<(Hand, bool)>,
    /// The rewriting in which a formatter wrote the line.
    pub(super) rewrites: Option<u32>,
    /// The author of its removal.
    pub(super) removed: Option<Hand>,
    /// The author of its removal before Git put it back.
    pub(super) undone: Option<Hand>,
    /// The rewriting by the formatter that removed it.
    pub(super) rewritten_as: Option<u32>,
    pub(super) is_addition_kept: bool,
    pub(super) is_removal_kept: bool,
    /// The lines around it when it was removed, which the order of the text must keep.
    pub(super) around: Option<(Option<String>, Option<String>)>,
}

/// The author of a line or of its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    Agent(&'static str, u64),
    Other,
    Undo,
}

/// The changes that an action takes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) session: &'static str,
    /// The first and the last turn.
    pub(super) turns: (u64, u64),
    pub(super) spares_kept: bool,
}

/// The part of a line's text that the chosen changes added and do not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    None,
    Some,
    All,
}

/// Whether a line is in the text without the chosen changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    Gone,
    /// It has text of the chosen changes and of others, so the place must be contested.
    Joined,
}

/// The fate of the text that a formatter rewrote, without the chosen changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Present,
    TakenOut,
    Gone,
}

/// Whether a formatter's change counts for lines of which another part stays in its form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layers {
    Whole,
    Single,
}

impl Chosen {
    fn has(&self, hand: Hand) -> bool {
        match hand {
            Hand::Other | Hand::Undo => false,
            Hand::Agent(session, turn) => {
                session == self.session && (self.turns.0..=self.turns.1).contains(&turn)
            }
        }
    }

    /// The part of a line, one of the file's `lines`, that the chosen changes added.
    pub(super) fn addition(&self, line: &ModelLine, lines: &[ModelLine]) -> Part {
        self.layered_addition(line, lines, Layers::Whole)
    }

    fn layered_addition(&self, line: &ModelLine, lines: &[ModelLine], layers: Layers) -> Part {
        if self.spares_kept && line.is_addition_kept {
            return Part::None;
        }
        let stays = |rewriting| self.fate(rewriting, lines) == Fate::Present;
        let keeps_layer = layers == Layers::Whole && line.rewrites.is_some_and(stays);
        if self.has(line.added) && !keeps_layer {
            return Part::All;
        }
        let is_own =
            |(hand, is_kept): &(Hand, bool)| self.has(*hand) && !(self.spares_kept && *is_kept);
        match line.shares.iter().filter(|it| is_own(it)).count() {
            0 => Part::None,
            count if count == line.shares.len() => Part::All,
            _ => Part::Some,
        }
    }

    /// Whether a line, one of the file's `lines`, is in the text without the chosen changes.
    pub(super) fn presence(&self, line: &ModelLine, lines: &[ModelLine]) -> Presence {
        self.layered_presence(line, lines, Layers::Whole)
    }

    fn layered_presence(&self, line: &ModelLine, lines: &[ModelLine], layers: Layers) -> Presence {
        let is_back = |hand| self.has(hand) && !(self.spares_kept && line.is_removal_kept);
        let addition = self.layered_addition(line, lines, layers);
        if line.removed.is_some_and(|hand| !is_back(hand)) || addition == Part::All {
            return Presence::Gone;
        }
        let is_settled = |rewriting| self.fate(rewriting, lines) != Fate::Gone;
        if line.removed.is_some() && line.rewritten_as.is_some_and(is_settled) {
            return Presence::Gone;
        }
        match addition {
            Part::Some => Presence::Joined,
            Part::None | Part::All => Presence::There,
        }
    }

    /// The fate of a text in the form that a formatter gave it.
    fn fate(&self, rewriting: u32, lines: &[ModelLine]) -> Fate {
        let copies = lines.iter().filter(|it| it.rewrites == Some(rewriting));
        let fates: Vec<Fate> = copies
            .map(|copy| match copy.rewritten_as {
                _ if self.layered_presence(copy, lines, Layers::Single) != Presence::Gone => {
                    Fate::Present
                }
                _ if copy.removed == Some(Hand::Undo) => Fate::TakenOut,
                Some(later) if copy.removed.is_some() => self.fate(later, lines),
                _ => Fate::Gone,
            })
            .collect();
        if fates.contains(&Fate::Present) {
            Fate::Present
        } else if fates.iter().all(|it| *it == Fate::TakenOut) {
            Fate::TakenOut
        } else {
            Fate::Gone
        }
    }
}

impl ModelLine {
    pub(super) fn new(text: &str, added: Hand) -> Self {
        Self {
            text: text.to_owned(),
            added,
            shares: Vec::new(),
            rewrites: None,
            removed: None,
            undone: None,
            rewritten_as: None,
            is_addition_kept: false,
            is_removal_kept: false,
            around: None,
        }
    }

    /// The authors of the text, and whether the user keeps it.
    pub(super) fn authors(&self) -> Vec<(Hand, bool)> {
        if self.shares.is_empty() {
            return vec![(self.added, self.is_addition_kept)];
        }
        let shares = self.shares.iter();
        shares
            .map(|(hand, is_kept)| (*hand, *is_kept || self.is_addition_kept))
            .collect()
    }

    /// Removes the line.
    pub(super) fn remove(&mut self, hand: Hand, around: Option<(Option<String>, Option<String>)>) {
        self.removed = Some(hand);
        self.undone = None;
        self.rewritten_as = None;
        self.is_removal_kept = false;
        self.around = around;
    }

    /// Follows a checkout: Git goes back to states of the text.
    pub(super) fn check_out(&mut self, is_there: bool) {
        match (is_there, self.removed) {
            (true, Some(hand)) => {
                self.undone = Some(hand);
                self.removed = None;
            }
            (false, None) => {
                if self.undone.is_none() {
                    self.is_removal_kept = false;
                    self.rewritten_as = None;
                    self.around = None;
                }
                self.removed = Some(self.undone.take().unwrap_or(Hand::Other));
            }
            (true, None) | (false, Some(_)) => {}
        }
    }

    /// Follows an action that took the chosen changes out, of which it had this part.
    pub(super) fn take_out(&mut self, is_there: bool, addition: Part) {
        match (is_there, self.removed) {
            (true, Some(_)) => {
                self.removed = None;
                self.undone = None;
            }
            (false, None) if addition == Part::All => {
                self.removed = Some(Hand::Undo);
                self.undone = None;
                self.rewritten_as = None;
            }
            _ => {}
        }
    }
}
