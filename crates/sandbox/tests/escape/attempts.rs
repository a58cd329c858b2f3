//! The escape attempts as data: small programs that do not depend on the confinement.
//!
//! Their environment contains: `W` the workspace, `B` the scene, `HOME`, `O` a folder of another
//! user, `X` a program that leaves a trace, `P` `P6` `U` ports of the host, `I` an address of it,
//! `A` an abstract name, `V` a process, `F` a descriptor, `T` a name in the shared folders.
//! `ESCAPED` in the output is an escape; so is every change that `effects` detects.

mod files;
mod git;
mod links;
mod network;
mod process;
mod resources;

use crate::scene::Kind;

/// The target of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Files,
    Git,
    Process,
    Network,
    Links,
    Resources,
}

/// One escape attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) flag: &'static str,
    pub(crate) text: &'static str,
    /// Without a sandbox it succeeds only for root.
    pub(crate) is_for_root: bool,
    /// The kinds of scenes in which it must succeed without a sandbox.
    pub(crate) home: Kind,
    /// A program that it requires.
    pub(crate) tool: &'static str,
    /// Whether hosts are granted and a proxy runs.
    pub(crate) has_hosts: bool,
    /// The reason that it could not succeed on this machine without a sandbox. Empty if it must
    /// succeed.
    pub(crate) no_control: &'static str,
}

pub(crate) const fn sh(name: &'static str, text: &'static str) -> Attempt {
    Attempt {
        name,
        program: "/bin/sh",
        flag: "-c",
        text,
        is_for_root: false,
        home: Kind::Plain,
        tool: "",
        has_hosts: false,
        no_control: "",
    }
}

pub(crate) const fn py(name: &'static str, text: &'static str) -> Attempt {
    Attempt {
        program: "/usr/bin/python3",
        flag: "-Sc",
        tool: "python3",
        ..sh(name, text)
    }
}

pub(crate) const fn pl(name: &'static str, text: &'static str) -> Attempt {
    Attempt {
        program: "/usr/bin/perl",
        flag: "-e",
        tool: "perl",
        ..sh(name, text)
    }
}

impl Attempt {
    pub(crate) const fn for_root(self) -> Self {
        Self {
            is_for_root: true,
            ..self
        }
    }

    pub(crate) const fn at(self, home: Kind) -> Self {
        Self { home, ..self }
    }

    pub(crate) const fn with(self, tool: &'static str) -> Self {
        Self { tool, ..self }
    }

    pub(crate) const fn hosts(self) -> Self {
        Self {
            has_hosts: true,
            ..self
        }
    }

    pub(crate) const fn no_control(self, why: &'static str) -> Self {
        Self {
            no_control: why,
            ..self
        }
    }
}

/// All escape attempts.
pub(crate) fn all() -> Vec<(Class, Attempt)> {
    let lists = [
        (Class::Files, files::LIST),
        (Class::Git, git::LIST),
        (Class::Process, process::LIST),
        (Class::Network, network::LIST),
        (Class::Links, links::LIST),
        (Class::Resources, resources::LIST),
    ];
    let with =
        |(class, list): (Class, &'static [Attempt])| list.iter().map(move |one| (class, *one));
    lists.into_iter().flat_map(with).collect()
}

#[test]
fn there_are_enough_attempts_and_each_has_a_name() {
    let all = all();
    for (class, least) in [
        (Class::Files, 70),
        (Class::Git, 40),
        (Class::Process, 30),
        (Class::Network, 40),
        (Class::Links, 25),
        (Class::Resources, 15),
    ] {
        let count = all.iter().filter(|(found, _)| *found == class).count();
        assert!(count >= least, "{class:?} has {count} attempts");
    }
    let names = all
        .iter()
        .map(|(class, attempt)| format!("{class:?} {}", attempt.name));
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}
