//! Counts of tolerated violations of the protocol, for the log.

use std::collections::BTreeMap;

use base::count_of;

/// A violation of the protocol that does not end the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Violation {
    /// A body is not a message of JSON-RPC.
    MalformedMessage,
    /// The parameters of a notification or request, or the result of a request, have a wrong form.
    MalformedPayload,
    /// An answer to a request that was never sent.
    UnknownAnswer,
    /// A diagnostic without range or message.
    MalformedDiagnostic,
    /// A diagnostic beyond the bounds of this client.
    DiagnosticBeyondBound,
    /// A row beyond the end of the text.
    PositionBeyondText,
    /// An element of an answer without the members that it must have.
    MalformedItem,
    /// An element of an answer beyond the bounds of this client.
    ItemBeyondBound,
    /// A report about a version of a document that is not known any more.
    UnknownVersion,
}

/// The number of tolerated violations by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Violations(BTreeMap<Violation, usize>);

impl Violations {
    /// Adds `number` violations of a kind.
    pub(crate) fn count(&mut self, violation: Violation, number: usize) {
        if number == 0 {
            return;
        }
        let count = self.0.entry(violation).or_default();
        *count = count.saturating_add(number);
    }

    /// Adds all violations of `other`.
    pub(crate) fn add(&mut self, other: &Violations) {
        for (violation, number) in &other.0 {
            self.count(*violation, *number);
        }
    }

    /// Returns one phrase for each kind, such as "3 malformed messages".
    pub(crate) fn phrases(&self) -> Vec<String> {
        let phrase =
            |(violation, number): (&Violation, &usize)| count_of(*number, violation.noun());
        self.0.iter().map(phrase).collect()
    }
}

impl Violation {
    fn noun(self) -> &'static str {
        match self {
            Self::MalformedMessage => "malformed message",
            Self::MalformedPayload => "malformed payload",
            Self::UnknownAnswer => "unexpected answer",
            Self::MalformedDiagnostic => "malformed diagnostic",
            Self::DiagnosticBeyondBound => "dropped diagnostic",
            Self::PositionBeyondText => "out-of-range position",
            Self::MalformedItem => "malformed item",
            Self::ItemBeyondBound => "dropped item",
            Self::UnknownVersion => "outdated report",
        }
    }
}
