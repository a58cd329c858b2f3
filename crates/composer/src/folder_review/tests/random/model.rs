//! The model: every line that a file had, with the hands that added and removed it.

/// A line of the model. All texts are distinct, and no author but Git and an undo puts a line back,
/// except for lines of the first commit.
#[derive(Clone, Debug)]
pub(super) struct ModelLine {
    pub(super) text: String,
    pub(super) added: Hand,
    /// The formatter that wrote the text in this form.
    pub(super) formatter: Option<Hand>,
    /// The author of its removal.
    pub(super) removed: Option<Hand>,
    /// The author of its removal before Git put it back.
    pub(super) undone: Option<Hand>,
    /// The line as which a formatter wrote its text.
    pub(super) copy: Option<String>,
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
}

/// The changes that an action takes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) session: &'static str,
    /// The first and the last turn.
    pub(super) turns: (u64, u64),
    pub(super) spares_kept: bool,
}

impl Chosen {
    pub(super) fn has(&self, hand: Hand) -> bool {
        match hand {
            Hand::Other => false,
            Hand::Agent(session, turn) => {
                session == self.session && (self.turns.0..=self.turns.1).contains(&turn)
            }
        }
    }

    /// Whether the chosen changes added a line and do not keep it.
    pub(super) fn has_addition(&self, line: &ModelLine) -> bool {
        let is_own = self.has(line.added) || line.formatter.is_some_and(|hand| self.has(hand));
        is_own && !(self.spares_kept && line.is_addition_kept)
    }

    /// Whether a line is in the text without the chosen changes. `is_kept` tells whether a line is in
    /// the text and kept.
    pub(super) fn leaves(&self, line: &ModelLine, is_kept: &dyn Fn(&str) -> bool) -> bool {
        let is_removed = line.removed.is_some_and(|hand| {
            let has_kept_copy = line.copy.as_ref().is_some_and(|copy| is_kept(copy));
            !self.has(hand) || (self.spares_kept && (line.is_removal_kept || has_kept_copy))
        });
        !self.has_addition(line) && !is_removed
    }
}

impl ModelLine {
    pub(super) fn new(text: &str, added: Hand) -> Self {
        Self {
            text: text.to_owned(),
            added,
            formatter: None,
            removed: None,
            undone: None,
            copy: None,
            is_addition_kept: false,
            is_removal_kept: false,
            around: None,
        }
    }

    /// Removes the line.
    pub(super) fn remove(&mut self, hand: Hand, around: Option<(Option<String>, Option<String>)>) {
        self.removed = Some(hand);
        self.undone = None;
        self.copy = None;
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
                    self.copy = None;
                    self.around = None;
                }
                self.removed = Some(self.undone.take().unwrap_or(Hand::Other));
            }
            (true, None) | (false, Some(_)) => {}
        }
    }

    /// Follows an action that took the chosen changes out.
    pub(super) fn take_out(&mut self, is_there: bool, chosen: &Chosen) {
        match (is_there, self.removed) {
            (true, Some(_)) => {
                self.removed = None;
                self.undone = None;
            }
            (false, None) if chosen.has_addition(self) => {
                self.removed = Some(Hand::Other);
                self.undone = None;
                self.copy = None;
            }
            _ => {}
        }
    }
}
