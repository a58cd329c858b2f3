//! Facts about the kernel features that confine agents' commands.

use std::path::Path;

use crate::facts::{Fact, number_of, output_of, text_of};

pub(super) fn facts() -> Vec<Fact> {
    vec![namespaces(), landlock(), seccomp(), cgroups()]
}

fn namespaces() -> Fact {
    let name = "user namespaces";
    let advice = "agents' commands cannot be sandboxed without them; as root run \"sysctl \
                  kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000\", and on \
                  Ubuntu \"sysctl kernel.apparmor_restrict_unprivileged_userns=0\"";
    let is_zero = |path| number_of(path) == Some(0);
    if is_zero("/proc/sys/user/max_user_namespaces")
        || is_zero("/proc/sys/kernel/unprivileged_userns_clone")
    {
        return Fact::bad(name, "switched off", advice);
    }
    // Creating a namespace is the only reliable test.
    if output_of("unshare", &["--user", "--map-root-user", "true"]).is_some() {
        return Fact::good(name, "available");
    }
    if number_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        return Fact::bad(name, "restricted by AppArmor", advice);
    }
    if Path::new("/proc/self/ns/user").exists() {
        Fact::warn(
            name,
            "supported by the kernel, but none could be created",
            advice,
        )
    } else {
        Fact::bad(name, "not supported by the kernel", advice)
    }
}

fn landlock() -> Fact {
    let name = "Landlock";
    let modules = text_of("/sys/kernel/security/lsm").unwrap_or_default();
    if modules.split(',').any(|module| module.trim() == "landlock") {
        return Fact::good(name, "on");
    }
    let advice = "a second layer of the sandbox is missing; boot with \"lsm=landlock,...\" on \
                  kernel 5.13 or newer";
    if modules.is_empty() {
        let value = "unknown: /sys/kernel/security/lsm cannot be read";
        return Fact::warn(name, value, "mount securityfs to find out");
    }
    Fact::warn(name, "off", advice)
}

fn seccomp() -> Fact {
    let name = "seccomp";
    let status = text_of("/proc/self/status").unwrap_or_default();
    let actions = text_of("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    if !status.lines().any(|line| line.starts_with("Seccomp:")) {
        return Fact::bad(
            name,
            "not supported by the kernel",
            "use a kernel with CONFIG_SECCOMP_FILTER",
        );
    }
    if actions.contains("errno") {
        Fact::good(name, "filters")
    } else {
        Fact::good(name, "on")
    }
}

fn cgroups() -> Fact {
    let name = "cgroups";
    let controllers = text_of("/sys/fs/cgroup/cgroup.controllers")
        .or_else(|| text_of("/sys/fs/cgroup/unified/cgroup.controllers"));
    match controllers {
        Some(controllers) => Fact::good(name, format!("version 2: {}", controllers.trim())),
        None => Fact::warn(
            name,
            "no version 2",
            "the memory of agents' commands cannot be limited; boot with \
             \"systemd.unified_cgroup_hierarchy=1\"",
        ),
    }
}
