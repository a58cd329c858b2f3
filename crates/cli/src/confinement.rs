//! The sandbox options of commands that run agents.

use clap::Args;
use host::Dirs;
use runtime::sandbox_policy::Confinement;
use sandbox::SandboxLayer;

/// The sandbox options of one run.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfinementArguments {
    /// Run commands with your rights, without a sandbox
    #[arg(long)]
    no_sandbox: bool,
    /// Do without this layer of the sandbox: namespaces, mounts, network, landlock, seccomp, no-new-privs or limits
    #[arg(long, value_name = "LAYER", value_parser = layer)]
    without: Vec<SandboxLayer>,
    /// Let commands reach this host, written `example.com`, `*.example.com` or `127.0.0.1:8080`
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
}

impl ConfinementArguments {
    /// Returns the options for `runtime`.
    pub(crate) fn to_confinement(&self) -> Confinement {
        Confinement {
            is_off: self.no_sandbox,
            without: self.without.clone(),
            allowed_hosts: self.allow_host.clone(),
        }
    }

    /// Returns the warning that explains `--yes`.
    pub(crate) fn warning(&self, dirs: &Dirs) -> String {
        let commands = if self.to_confinement().has_sandbox(dirs) {
            "commands run in the sandbox, which keeps them in the folder"
        } else {
            "commands run with your rights, without a sandbox"
        };
        format!(
            "--yes allows calls that would need permission: files are changed, and {commands}. \
             Deny rules hold; secret and protected files, files outside the folder and unclear \
             permissions still need permission, or are refused if no user is attached"
        )
    }
}

/// Parses the name of a sandbox layer; the error lists the names.
fn layer(name: &str) -> Result<SandboxLayer, String> {
    SandboxLayer::named(name).ok_or_else(|| {
        let names: Vec<&str> = SandboxLayer::ALL.iter().map(|layer| layer.name()).collect();
        format!("there is no such layer; there are {}", names.join(", "))
    })
}
