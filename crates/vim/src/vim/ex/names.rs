//! The names of ex commands and their abbreviations.
//!
//! Start at `parse`.

use crate::mapping::MapMode;

/// The modes of a `:map` command, and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MapCommand {
    pub(super) modes: &'static [MapMode],
    /// Whether `!` means insert mode and the command line.
    pub(super) action: MapAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapAction {
    Map { is_recursive: bool },
    Unmap,
    Clear,
}

/// An ex command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExName {
    Substitute,
    SubstituteAgain,
    SubstituteSearched,
    Global,
    Vglobal,
    Normal,
    Delete,
    Yank,
    Put,
    Move,
    Copy,
    Join,
    ShiftRight,
    ShiftLeft,
    Mark,
    Print,
    LineNumber,
    Sort,
    Retab,
    Left,
    Right,
    Center,
    Execute,
    DeleteMarks,
    Undo,
    Redo,
    Earlier,
    Later,
    NoHighlight,
    Registers,
    Marks,
    Jumps,
    Changes,
    Set,
    Map(MapCommand),
    StartInsert,
    StopInsert,
    Write,
    WriteAll,
    WriteQuit,
    Exit,
    WriteQuitAll,
    Quit,
    QuitAll,
    Edit,
    New,
    Split,
    VSplit,
    VNew,
    TabEdit,
    TabNext,
    TabPrevious,
    TabClose,
    TabOnly,
    Buffer,
    BufferNext,
    BufferPrevious,
    BufferFirst,
    BufferLast,
    BufferDelete,
    Buffers,
    Close,
    Only,
    Read,
    Bang,
    Fold,
    FoldOpen,
    FoldClose,
    NextResult,
    PreviousResult,
}

impl ExName {
    /// Whether bars belong to the arguments.
    pub(super) fn takes_rest(self) -> bool {
        matches!(
            self,
            ExName::Substitute
                | ExName::SubstituteAgain
                | ExName::SubstituteSearched
                | ExName::Global
                | ExName::Vglobal
                | ExName::Normal
                | ExName::Bang
                | ExName::Read
                | ExName::Write
                | ExName::Map(_)
        )
    }
}

const NORMAL: &[MapMode] = &[MapMode::Normal];
const VISUAL: &[MapMode] = &[MapMode::Visual];
const PENDING: &[MapMode] = &[MapMode::Pending];
const INSERT: &[MapMode] = &[MapMode::Insert];
const PROMPT: &[MapMode] = &[MapMode::Prompt];
const COMMANDS: &[MapMode] = &[MapMode::Normal, MapMode::Visual, MapMode::Pending];

const fn map(modes: &'static [MapMode]) -> ExName {
    ExName::Map(MapCommand {
        modes,
        action: MapAction::Map { is_recursive: true },
    })
}

const fn noremap(modes: &'static [MapMode]) -> ExName {
    ExName::Map(MapCommand {
        modes,
        action: MapAction::Map {
            is_recursive: false,
        },
    })
}

const fn unmap(modes: &'static [MapMode]) -> ExName {
    ExName::Map(MapCommand {
        modes,
        action: MapAction::Unmap,
    })
}

const fn mapclear(modes: &'static [MapMode]) -> ExName {
    ExName::Map(MapCommand {
        modes,
        action: MapAction::Clear,
    })
}

/// Names with the length of their shortest abbreviation. Of two that fit, the first counts.
// tidy: table
const NAMES: &[(&str, usize, ExName)] = &[
    ("substitute", 1, ExName::Substitute),
    ("global", 1, ExName::Global),
    ("vglobal", 1, ExName::Vglobal),
    ("normal", 4, ExName::Normal),
    ("delete", 1, ExName::Delete),
    ("yank", 1, ExName::Yank),
    ("put", 2, ExName::Put),
    ("move", 1, ExName::Move),
    ("copy", 2, ExName::Copy),
    ("t", 1, ExName::Copy),
    ("join", 1, ExName::Join),
    ("k", 1, ExName::Mark),
    ("mark", 2, ExName::Mark),
    ("print", 1, ExName::Print),
    ("Print", 1, ExName::Print),
    ("number", 2, ExName::Print),
    ("sort", 3, ExName::Sort),
    ("retab", 3, ExName::Retab),
    ("left", 2, ExName::Left),
    ("right", 2, ExName::Right),
    ("center", 2, ExName::Center),
    ("delmarks", 4, ExName::DeleteMarks),
    ("undo", 1, ExName::Undo),
    ("redo", 3, ExName::Redo),
    ("earlier", 2, ExName::Earlier),
    ("later", 3, ExName::Later),
    ("nohlsearch", 3, ExName::NoHighlight),
    ("registers", 3, ExName::Registers),
    ("display", 2, ExName::Registers),
    ("marks", 5, ExName::Marks),
    ("jumps", 2, ExName::Jumps),
    ("changes", 7, ExName::Changes),
    ("set", 2, ExName::Set),
    ("setlocal", 4, ExName::Set),
    ("setglobal", 4, ExName::Set),
    ("startinsert", 4, ExName::StartInsert),
    ("stopinsert", 5, ExName::StopInsert),
    ("write", 1, ExName::Write),
    ("update", 2, ExName::Write),
    ("wall", 2, ExName::WriteAll),
    ("wq", 2, ExName::WriteQuit),
    ("xit", 1, ExName::Exit),
    ("exit", 3, ExName::Exit),
    ("wqall", 3, ExName::WriteQuitAll),
    ("xall", 2, ExName::WriteQuitAll),
    ("quit", 1, ExName::Quit),
    ("qall", 2, ExName::QuitAll),
    ("quitall", 5, ExName::QuitAll),
    ("edit", 1, ExName::Edit),
    ("enew", 3, ExName::New),
    ("new", 3, ExName::Split),
    ("split", 2, ExName::Split),
    ("vsplit", 2, ExName::VSplit),
    ("vnew", 3, ExName::VNew),
    ("tabedit", 4, ExName::TabEdit),
    ("tabnew", 6, ExName::TabEdit),
    ("tabnext", 4, ExName::TabNext),
    ("tabprevious", 4, ExName::TabPrevious),
    ("tabNext", 4, ExName::TabPrevious),
    ("tabclose", 4, ExName::TabClose),
    ("tabonly", 4, ExName::TabOnly),
    ("buffer", 1, ExName::Buffer),
    ("bnext", 2, ExName::BufferNext),
    ("bprevious", 2, ExName::BufferPrevious),
    ("bNext", 2, ExName::BufferPrevious),
    ("bfirst", 2, ExName::BufferFirst),
    ("brewind", 2, ExName::BufferFirst),
    ("blast", 2, ExName::BufferLast),
    ("bdelete", 2, ExName::BufferDelete),
    ("buffers", 7, ExName::Buffers),
    ("ls", 2, ExName::Buffers),
    ("files", 5, ExName::Buffers),
    ("close", 3, ExName::Close),
    ("only", 2, ExName::Only),
    ("read", 1, ExName::Read),
    ("fold", 2, ExName::Fold),
    ("foldopen", 5, ExName::FoldOpen),
    ("foldclose", 5, ExName::FoldClose),
    ("cnext", 2, ExName::NextResult),
    ("cprevious", 2, ExName::PreviousResult),
    ("cNext", 2, ExName::PreviousResult),
    ("map", 3, map(COMMANDS)),
    ("nmap", 2, map(NORMAL)),
    ("vmap", 2, map(VISUAL)),
    ("xmap", 2, map(VISUAL)),
    ("omap", 2, map(PENDING)),
    ("imap", 2, map(INSERT)),
    ("cmap", 2, map(PROMPT)),
    ("noremap", 2, noremap(COMMANDS)),
    ("nnoremap", 2, noremap(NORMAL)),
    ("vnoremap", 2, noremap(VISUAL)),
    ("xnoremap", 2, noremap(VISUAL)),
    ("onoremap", 3, noremap(PENDING)),
    ("inoremap", 3, noremap(INSERT)),
    ("cnoremap", 3, noremap(PROMPT)),
    ("unmap", 3, unmap(COMMANDS)),
    ("nunmap", 3, unmap(NORMAL)),
    ("vunmap", 2, unmap(VISUAL)),
    ("xunmap", 2, unmap(VISUAL)),
    ("ounmap", 2, unmap(PENDING)),
    ("iunmap", 2, unmap(INSERT)),
    ("cunmap", 2, unmap(PROMPT)),
    ("mapclear", 4, mapclear(COMMANDS)),
    ("nmapclear", 5, mapclear(NORMAL)),
    ("vmapclear", 5, mapclear(VISUAL)),
    ("xmapclear", 5, mapclear(VISUAL)),
    ("omapclear", 5, mapclear(PENDING)),
    ("imapclear", 5, mapclear(INSERT)),
    ("cmapclear", 5, mapclear(PROMPT)),
];

/// Splits a command into its name, whether a `!` follows, and the rest. `None` for an unknown name.
pub(super) fn parse(command: &str) -> Option<(ExName, bool, &str)> {
    let sign = command.chars().next()?;
    let by_sign = match sign {
        '&' => Some(ExName::SubstituteAgain),
        '~' => Some(ExName::SubstituteSearched),
        '>' => Some(ExName::ShiftRight),
        '<' => Some(ExName::ShiftLeft),
        '!' => Some(ExName::Bang),
        '=' => Some(ExName::LineNumber),
        '@' | '*' => Some(ExName::Execute),
        '#' => Some(ExName::Print),
        _ => None,
    };
    if let Some(name) = by_sign {
        return Some((name, false, &command[1..]));
    }
    let end = command
        .find(|char: char| !char.is_ascii_alphabetic())
        .unwrap_or(command.len());
    let (word, rest) = command.split_at(end);
    // `:ka` sets the mark a; `:s` takes flags or a delimiter at once.
    if let Some(name) = word.strip_prefix('k').filter(|name| name.len() == 1) {
        let at = command.len() - rest.len() - name.len();
        return Some((ExName::Mark, false, &command[at..]));
    }
    let found = NAMES.iter().find(|(name, shortest, _)| {
        word.len() >= *shortest && name.starts_with(word) && !word.is_empty()
    });
    if let Some((_, _, name)) = found {
        return Some(match rest.strip_prefix('!') {
            Some(rest) => (*name, true, rest),
            None => (*name, false, rest),
        });
    }
    let flags = word.strip_prefix('s')?;
    let are_flags = !flags.is_empty() && flags.chars().all(|char| "cegiInpr".contains(char));
    are_flags.then(|| (ExName::Substitute, false, &command[1..]))
}
