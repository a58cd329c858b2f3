//! The sandbox of commands in words: its layers, and the exceptions that the settings make.

use agent::access::SandboxAccess;
use base::AbsPath;
use host::Dirs;
use sandbox::{HostRule, PolicyFile, SandboxLayer};

use super::saved_policy::SandboxSettings;
use crate::permissions::Permissions;

/// Describes the sandbox of commands in a project, as the permissions file sets it. Problems with
/// the settings are sentences. Blocks on the disk.
pub fn describe(dirs: &Dirs, project: &AbsPath) -> (SandboxAccess, Vec<String>) {
    let permissions = Permissions::read(dirs);
    let (settings, problems) = SandboxSettings::of(&permissions, project);
    let mut sentences = Vec::new();
    if settings.is_off() {
        sentences.push(format!(
            "Commands run without a sandbox, with your rights: {} sets \"off\"",
            permissions.path()
        ));
    } else {
        sentences.extend(layers(settings.policy()));
        sentences.push(format!(
            "Commands can write in {project}, and their caches; they see no keys and passwords"
        ));
        sentences.extend(exceptions(settings.policy()));
    }
    let environment = settings.environment();
    if !environment.is_empty() {
        let names = environment.join(", ");
        sentences.push(format!("Commands get your variables {names}"));
    }
    let access = SandboxAccess {
        sentences,
        grants: permissions.grants(&project.to_string()),
    };
    (access, problems)
}

/// Returns sentences about the layers that are on, and about those that the settings leave out.
fn layers(policy: &PolicyFile) -> Vec<String> {
    let (without, with): (Vec<SandboxLayer>, Vec<SandboxLayer>) = SandboxLayer::ALL
        .into_iter()
        .partition(|layer| policy.without.contains(layer));
    let words = |layers: &[SandboxLayer]| {
        let words = layers
            .iter()
            .map(|layer| format!("{layer} ({})", purpose(*layer)));
        words.collect::<Vec<_>>().join(", ")
    };
    let mut sentences = Vec::new();
    if !with.is_empty() {
        sentences.push(format!("Commands run in a sandbox: {}", words(&with)));
    }
    if !without.is_empty() {
        let words = words(&without);
        sentences.push(format!("Layers that the settings leave out: {words}"));
    }
    sentences
}

/// Returns the purpose of a layer in a few words.
fn purpose(layer: SandboxLayer) -> &'static str {
    match layer {
        SandboxLayer::Namespaces => "other processes are out of reach",
        SandboxLayer::Mounts => "secrets are hidden, other folders read-only",
        SandboxLayer::Network => "no network but granted hosts",
        SandboxLayer::Landlock => "a second check of every write",
        SandboxLayer::Seccomp => "a filter of system calls",
        SandboxLayer::NoNewPrivs => "no program gains rights",
        SandboxLayer::Limits => "limits of processes and private data",
    }
}

/// Returns a sentence for each kind of exception that the settings make for all commands.
fn exceptions(policy: &PolicyFile) -> Vec<String> {
    let hosts: Vec<String> = policy.hosts.iter().map(host).collect();
    let network = if hosts.is_empty() {
        "Commands reach no network".to_owned()
    } else {
        format!("Commands reach {}", hosts.join(", "))
    };
    let variables = policy.environment.iter().map(|(name, _)| name.clone());
    let lists = [
        ("Commands can also write", policy.writable.clone()),
        ("Commands can also read", policy.readable.clone()),
        ("Hidden as well", policy.hidden.clone()),
        ("Read-only as well", policy.protected.clone()),
        ("Changes are discarded in", policy.scratch.clone()),
        (
            "Git folders that can be committed to",
            policy.repositories.clone(),
        ),
        ("Variables that are set", variables.collect()),
    ];
    let lists = lists.into_iter().filter(|(_, entries)| !entries.is_empty());
    let lists = lists.map(|(what, entries)| format!("{what}: {}", entries.join(", ")));
    std::iter::once(network).chain(lists).collect()
}

/// Returns a host with its ports, as commands name it.
fn host(rule: &HostRule) -> String {
    if rule.ports.is_empty() {
        return rule.host.clone();
    }
    let ports: Vec<String> = rule.ports.iter().map(u16::to_string).collect();
    format!("{}:{}", rule.host, ports.join("/"))
}

#[cfg(test)]
mod tests {
    use host::{Files as _, RealFiles, TempFolder};

    use super::*;

    #[test]
    fn layers_exceptions_and_grants_are_in_words() {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(folder.path());
        dirs.create().expect("folders");
        let project = folder.path().join("p");
        let of = |text: String| {
            let path = crate::permissions::path(&dirs);
            RealFiles
                .write_private(&path, text.as_bytes())
                .expect("written");
            let (access, problems) = describe(&dirs, &project);
            assert_eq!(problems, Vec::<String>::new());
            access
        };
        let plain = of("{}".to_owned());
        assert!(plain.sentences[0].contains("landlock"), "{plain:?}");
        let has = |access: &SandboxAccess, text: &str| {
            let found = access.sentences.iter().any(|it| it.contains(text));
            assert!(found, "{text}: {access:?}");
        };
        has(&plain, "no network");
        let opened = of(format!(
            r#"{{ "sandbox": {{
                "policy": {{ "hosts": [{{ "host": "crates.io" }}], "without": ["landlock"], "writable": ["/data"] }},
                "environment": ["TOKEN"],
                "commands": {{ "Bash(cargo fetch:*)": ["host a.example:443"] }} }},
              "projects": {{ "{project}": {{ "commands": {{ "Bash(npm ci)": ["write /b"] }} }} }} }}"#
        ));
        has(&opened, "leave out: landlock");
        has(&opened, "reach crates.io");
        has(&opened, "also write: /data");
        has(&opened, "your variables TOKEN");
        let grants: Vec<&str> = opened.grants.iter().map(|it| it.access.as_str()).collect();
        assert_eq!(grants, ["host a.example:443", "write /b"]);
        let off = of(r#"{ "sandbox": { "off": true } }"#.to_owned());
        has(&off, "without a sandbox");
    }
}
