//! Another machine whose agents are used, and the command that reaches its background process.
//!
//! Invariant: the host is never an option of the command, and the remote shell sees the path of the
//! program as one word.

use std::ffi::OsString;

use base::{AbsPath, LineFeeds, printable};
use host::environment::Recipient;
use host::process::{ProcessEnvironment, StartRequest};
use host::{Dirs, Files};
use settings::{MachineSetting, SettingsSource};

/// Name of the user's settings file.
const SETTINGS: &str = "settings.json";
/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// The program that connects if the settings name no other.
const SSH: &str = "ssh";
/// The program that is started on the machine if the settings name no other.
const PROGRAM: &str = "burin-agent";
/// The options of every connection: no terminal, no questions, nothing forwarded, and an end soon after
/// the network fails. Options of the settings come first, and the first one counts.
const OPTIONS: &[&str] = &[
    "-T",
    "-a",
    "-x",
    "-e",
    "none",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ControlMaster=no",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "PermitLocalCommand=no",
    "-o",
    "RemoteCommand=none",
];

/// Another machine with agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMachine {
    name: String,
    folder: AbsPath,
    /// The folder on this computer in which the command starts.
    start_folder: AbsPath,
    host: String,
    program: String,
    ssh: String,
    ssh_options: Vec<String>,
}

impl AgentMachine {
    /// Creates the machine of a setting. Returns `None` if the folder is not an absolute path, which
    /// the settings report.
    pub fn new(name: &str, setting: &MachineSetting) -> Option<Self> {
        let or = |text: &Option<String>, default: &str| text.clone().unwrap_or(default.to_owned());
        Some(Self {
            name: name.to_owned(),
            folder: AbsPath::new(&setting.folder)?,
            start_folder: AbsPath::new("/")?,
            host: setting.host.clone(),
            program: or(&setting.program, PROGRAM),
            ssh: or(&setting.ssh, SSH),
            ssh_options: setting.ssh_options.clone().unwrap_or_default(),
        })
    }

    /// Returns the machines of the user's settings, and the problems of the settings as sentences. Blocks
    /// on the disk.
    pub fn list(files: &dyn Files, dirs: &Dirs) -> (Vec<Self>, Vec<String>) {
        let path = dirs.config.join(SETTINGS);
        let bytes = match files.read(&path, MAX_SETTINGS_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return (Vec::new(), vec![error.to_string()]),
        };
        let text = String::from_utf8_lossy(&bytes);
        let (settings, problems) = settings::parse(&[(SettingsSource::User, SETTINGS, &text)]);
        let machines = settings.agents.machines.0.iter();
        let machines = machines.filter_map(|(name, setting)| Self::new(name, setting));
        let problems = problems.iter().map(ToString::to_string);
        (machines.collect(), problems.collect())
    }

    /// Whether the settings name the machine so.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// The name of the machine in the settings, for display.
    pub fn name(&self) -> String {
        printable(&self.name, LineFeeds::Escape).into_owned()
    }

    /// The folder on the machine in which agents work. It is no path of this computer.
    pub fn folder(&self) -> &AbsPath {
        &self.folder
    }

    /// The program that is started on the machine, for display.
    pub(crate) fn program(&self) -> String {
        printable(&self.program, LineFeeds::Escape).into_owned()
    }

    /// Returns the command whose input and output lead to the background process of the machine.
    pub(crate) fn command(&self) -> StartRequest {
        let own = self.ssh_options.iter().map(String::as_str);
        let remote = format!("{} serve --stdio", shell_word(&self.program));
        let arguments = own.chain(OPTIONS.iter().copied());
        let arguments = arguments.chain(["--", &self.host, &remote]);
        StartRequest {
            program: OsString::from(&self.ssh),
            arguments: arguments.map(OsString::from).collect(),
            folder: self.start_folder.clone(),
            environment: ProcessEnvironment::Allowed(Recipient::Personal),
        }
    }
}

/// Quotes a path for a POSIX shell, which still replaces a leading `~/` by the home folder.
fn shell_word(path: &str) -> String {
    let is_plain = |text: &str| {
        let mut bytes = text.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@:".contains(&byte))
    };
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match path.strip_prefix("~/") {
        Some(rest) if is_plain(rest) => path.to_owned(),
        Some(rest) => format!("~/{}", quoted(rest)),
        None if is_plain(path) => path.to_owned(),
        None => quoted(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(setting: &MachineSetting) -> Vec<String> {
        let machine = AgentMachine::new("far", setting).expect("an absolute folder");
        let request = machine.command();
        let program = std::iter::once(request.program).chain(request.arguments);
        program
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn the_command_ends_with_the_host_and_one_quoted_program() {
        let mut setting = MachineSetting {
            host: "me@far".to_owned(),
            folder: "/srv/p".to_owned(),
            ..MachineSetting::default()
        };
        let line = words(&setting);
        assert_eq!(line[..2], ["ssh", "-T"]);
        let end = ["--", "me@far", "burin-agent serve --stdio"];
        assert_eq!(line[line.len() - 3..], end);
        setting.program = Some("~/my bin/it's; rm".to_owned());
        setting.ssh_options = Some(vec!["-p".to_owned(), "22".to_owned()]);
        let line = words(&setting);
        assert_eq!(line[..4], ["ssh", "-p", "22", "-T"]);
        let last = line.last().map(String::as_str);
        assert_eq!(last, Some(r"~/'my bin/it'\''s; rm' serve --stdio"));
    }

    #[test]
    fn a_folder_that_is_not_absolute_makes_no_machine() {
        let setting = MachineSetting {
            host: "far".to_owned(),
            folder: "p".to_owned(),
            ..MachineSetting::default()
        };
        assert_eq!(AgentMachine::new("far", &setting), None);
    }
}
