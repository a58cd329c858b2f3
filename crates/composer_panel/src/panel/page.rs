//! The pages of the panel.

/// The page that the panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PanelPage {
    Session,
    Sessions,
    Board,
    /// The changes of the open session in the user's folder.
    Changes,
    /// The cost of models.
    Spending,
    /// The quality of agents' work.
    Quality,
    /// The automations of the folder.
    Automations,
}
