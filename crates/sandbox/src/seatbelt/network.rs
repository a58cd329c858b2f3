//! The rules on sockets.
//!
//! A rule on an address names `localhost` or every host; the proxy is the only way to others. There
//! is no private loopback, so listening and calling own servers is not possible: a rule for them
//! would reach every server of the machine.

use super::ProfileContext;
use super::spelling::quoted;
use crate::net::{own_ports, reaches_hosts};
use crate::{Policy, SandboxError, SandboxLayer};

/// Appends the rules.
pub(super) fn write(
    policy: &Policy,
    context: &ProfileContext,
    text: &mut String,
) -> Result<(), SandboxError> {
    text.push_str("\n; The network.\n");
    if policy.without.contains(&SandboxLayer::Network) {
        text.push_str("(allow network*)\n(allow system-socket)\n(allow mach-lookup (global-name \"com.apple.trustd.agent\"))\n");
        return Ok(());
    }
    let private = quoted(&context.private)?;
    text.push_str(&format!(
        "(allow system-socket (socket-domain AF_UNIX))\n\
         (allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))\n\
         (allow network-bind (local unix-socket (subpath {private})))\n\
         (allow network-inbound (local unix-socket (subpath {private})))\n\
         (allow network-outbound (remote unix-socket (subpath {private})))\n"
    ));
    let Some(hosts) = reaches_hosts(&policy.network) else {
        return Ok(());
    };
    let Some(port) = context.proxy else {
        return Err(SandboxError::Policy {
            reason: "hosts are granted, but there is no proxy to reach them".to_owned(),
        });
    };
    text.push_str(&format!(
        "(allow network-outbound (remote ip \"localhost:{port}\"))\n"
    ));
    // `localhost` means both addresses in a profile: a port is open only if both are granted.
    // Others are reached through the proxy.
    let [four, six] = own_ports(hosts);
    for port in four.iter().filter(|port| six.contains(port)) {
        text.push_str(&format!(
            "(allow network-outbound (remote ip \"localhost:{port}\"))\n"
        ));
    }
    // Go checks certificates there, and the service itself fetches only what they name.
    text.push_str("(allow mach-lookup (global-name \"com.apple.trustd.agent\"))\n");
    Ok(())
}
