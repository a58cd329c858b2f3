//! The errors of sessions and of the services they use.

use std::io;

use base::AbsPath;

/// The reason why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// Another program has written records of the session: it must be opened again.
    #[error("another program has written to this session; reopen it to continue from there ({0})")]
    SessionChanged(ledger::Error),
    /// Earlier records must be written first, and the disk refuses them.
    #[error("the ledger cannot be written at the moment")]
    LedgerUnavailable,
    /// The thread that writes records has ended.
    #[error("the ledger's thread has ended; restart Burin")]
    StoreClosed,
    /// The thread that writes records cannot be started.
    #[error("cannot start the thread that writes records: {0}")]
    StoreNotStarted(io::Error),
    /// A record cannot be parsed; reading a session leaves it out.
    #[error(
        "record {seq} of session {session} ({kind}) cannot be read and is left out of the \
         conversation: {source}; if a newer Burin wrote it, update this one"
    )]
    UnreadableRecord {
        /// The number of the record.
        seq: u64,
        /// The id of the session.
        session: String,
        /// The kind of the record.
        kind: String,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// No session has this id.
    #[error("there is no session \"{0}\": `burin-agent sessions list` lists the stored ones")]
    NoSession(String),
    /// An external agent runs the turns of the session, so our engine cannot continue it.
    #[error("session {session} is one of {agent}: continue it on the board of its folder")]
    HostedSession {
        /// The id of the session.
        session: String,
        /// The name of the agent.
        agent: String,
    },
    /// Another process holds the session.
    #[error("session {session} is open in {owner}: continue there, or close it there first")]
    SessionInUse {
        /// The id of the session.
        session: String,
        /// The process that holds it.
        owner: String,
    },
    /// The session has no record with this number.
    #[error("session {session} has no record {after} to continue from")]
    NoRecord {
        /// The id of the session.
        session: String,
        /// The number of the record.
        after: u64,
    },
    /// The first record of the session is not the one that starts it.
    #[error("session {0} cannot be continued: its start cannot be read")]
    NoSessionStart(String),
    /// A background task that works on a session broke off.
    #[error("session {session} could not be {doing}: {source}")]
    SessionTask {
        /// The id of the session.
        session: String,
        /// The task, as a participle: "read", "opened".
        doing: &'static str,
        /// The end of the task.
        source: tokio::task::JoinError,
    },
    /// The arguments of a call are not JSON.
    #[error("the arguments are not valid JSON: {source}; near `{near}`")]
    ArgumentsNotJson {
        /// The error of the parser.
        source: serde_json::Error,
        /// The text around the error.
        near: String,
    },
    /// The arguments of a call are JSON, but no object.
    #[error("the arguments must be a JSON object, and are {0}")]
    ArgumentsNotAnObject(&'static str),
    /// The arguments of a call do not match the tool's schema.
    #[error("the arguments do not match the schema: {}", .0.join("; "))]
    ArgumentsMismatch(Vec<String>),
    /// A glob cannot be compiled.
    #[error("cannot read the glob \"{pattern}\": {reason}")]
    InvalidGlob {
        /// The glob as it was written.
        pattern: String,
        /// The defect.
        reason: globset::ErrorKind,
    },
    /// A permission rule cannot be parsed, or names no tool that exists.
    #[error("the rule {rule:?}{}{defect}", .defect.separator())]
    InvalidRule {
        /// The rule as it was written.
        rule: String,
        /// The defect.
        defect: RuleDefect,
    },
    /// The matcher of a hook is not a valid regular expression.
    #[error("the matcher \"{pattern}\" cannot be read: {source}")]
    InvalidMatcher {
        /// The matcher as it was written.
        pattern: String,
        /// The error of the parser.
        source: Box<regex::Error>,
    },
    /// A hook could not be run. Completes a sentence that begins with the hook's name.
    #[error("{0}")]
    HookNotRun(String),
    /// The service for semantic search failed.
    #[error("{0}")]
    SearchFailed(String),
    /// A text that a prompt names cannot be read; a sentence without its stop.
    #[error("{0}")]
    SourceUnread(String),
    /// A query to language servers failed; a clause.
    #[error("{0}")]
    LanguageQueryFailed(String),
    /// The sandbox of a command cannot be set up.
    #[error("{0}")]
    SandboxUnavailable(String),
    /// A decision of the user cannot be saved; it applies to this session.
    #[error("{0}")]
    PermissionNotSaved(String),
    /// A skill does not follow the format.
    #[error("the skill in {path} was skipped: {defect}")]
    InvalidSkill {
        /// Its `SKILL.md`.
        path: AbsPath,
        /// The defect.
        defect: SkillDefect,
    },
    /// A file that was there before is gone.
    #[error("{0} is no longer there")]
    FileGone(AbsPath),
    /// A path leads out of the folder in which files may be read.
    #[error("{path} leads out of {fence} and was not read")]
    OutsideFence {
        /// The path.
        path: AbsPath,
        /// The folder.
        fence: AbsPath,
    },
    /// A file is binary.
    #[error("{0} is not a text file and was not read")]
    NotText(AbsPath),
    /// A mentioned path lies outside the root.
    #[error("{name} is outside {root} and was not added to the prompt")]
    MentionOutsideRoot {
        /// The path as the prompt names it.
        name: String,
        /// The root of the session.
        root: AbsPath,
    },
    /// A mentioned path is neither a file nor a folder.
    #[error("{0} is neither a file nor a folder")]
    NeitherFileNorFolder(String),
    /// A file operation failed.
    #[error(transparent)]
    Host(#[from] host::Error),
    /// A Git operation failed.
    #[error(transparent)]
    Git(#[from] git::Error),
}

/// The defect of a permission rule. Its text ends a sentence that begins with the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleDefect {
    /// An opening bracket is not closed.
    #[error("lacks its last bracket")]
    NoClosingBracket,
    /// The name of the tool is missing or has other characters than names have.
    #[error("names no tool")]
    NoTool,
    /// No tool has this name.
    #[error("is of a tool that does not exist")]
    UnknownTool,
    /// The rule is about hosts, and the brackets contain none.
    #[error("a host is written as domain:example.com")]
    NoDomain,
    /// The rule is about all tools or a server, and has brackets.
    #[error("it takes nothing in brackets")]
    TakesNothing,
    /// The rule is about files, and the brackets contain a host.
    #[error("it is about files, not hosts")]
    NotAboutHosts,
    /// The rule begins with `~`, and there is no home folder.
    #[error("this machine has no home folder for `~`")]
    NoHomeFolder,
    /// The pattern of files is invalid.
    #[error("{0}")]
    Glob(String),
}

impl RuleDefect {
    /// Returns the text between the rule and the defect.
    fn separator(&self) -> &'static str {
        match self {
            Self::NoClosingBracket | Self::NoTool | Self::UnknownTool => " ",
            Self::NoDomain
            | Self::TakesNothing
            | Self::NotAboutHosts
            | Self::NoHomeFolder
            | Self::Glob(_) => ": ",
        }
    }
}

/// The defect of a skill that does not follow the format, as a clause about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillDefect {
    /// It has no name.
    #[error("it has no name")]
    NoName,
    /// Its name is too long.
    #[error("its name is longer than 64 characters")]
    LongName,
    /// Its name has characters that names cannot have.
    #[error("its name {0:?} has characters other than a to z, 0 to 9 and -")]
    InvalidName(String),
    /// A hyphen of its name is not between two other characters.
    #[error("in its name {0:?} a - must be between two other characters")]
    MisplacedHyphen(String),
    /// Its name is not that of its folder.
    #[error("its name is {name}, but its folder is called {folder}")]
    NameDiffers {
        /// The name of the skill.
        name: String,
        /// The name of the folder.
        folder: String,
    },
    /// It has no description.
    #[error("it has no description")]
    NoDescription,
    /// Its description is too long; holds the number of characters.
    #[error("its description has {0} letters; 1024 are allowed")]
    LongDescription(usize),
    /// Its text about compatibility is too long.
    #[error("its compatibility has more than 500 characters")]
    LongCompatibility,
    /// Its metadata is not a map.
    #[error("its metadata is not a map of names to values")]
    InvalidMetadata,
}

/// Formats an error as a sentence; see `base::sentence`.
pub(crate) fn sentence(error: &dyn std::fmt::Display) -> String {
    base::sentence(&error.to_string())
}
