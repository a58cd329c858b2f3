//! The rules on sockets.
//!
//! A rule on an address names `localhost` or every host; other hosts are reached only through the
//! proxy. The loopback is not private, so a command can neither listen nor call its own servers: a
//! rule that allowed this would also open every server of the machine.

use super::ProfileContext;
use super::spelling::quoted;
use crate::net::{own_ports, reaches_hosts};
use crate::{HostRule, Policy, SandboxError, SandboxLayer};

/// The rules of a policy that leaves the network open. Sockets of other programs stay closed, since
/// some of them, such as Docker's, lead out of the sandbox; the resolver's is the exception.
const OPEN: &str = r#"(allow network*)
(allow system-socket)
(deny network-outbound (remote unix-socket))
(allow network-outbound (remote unix-socket (literal "/private/var/run/mDNSResponder")))
(allow mach-lookup (global-name "com.apple.trustd.agent"))
(allow mach-lookup (global-name "com.apple.dnssd.service"))
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))
(allow mach-lookup (global-name "com.apple.SystemConfiguration.DNSConfiguration"))
(allow file-read-metadata (literal "/private/var/run"))
(allow file-read* (literal "/private/var/run/mDNSResponder") (literal "/private/var/run/resolv.conf"))
"#;

/// The rules for the sockets that every command may have, besides those in its private folder.
const CLOSED: &str = "(allow system-socket (socket-domain AF_UNIX))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
";

/// Appends the rules.
pub(super) fn write(
    policy: &Policy,
    context: &ProfileContext,
    text: &mut String,
) -> Result<(), SandboxError> {
    let is_open = policy.without.contains(&SandboxLayer::Network);
    text.push_str("\n; The network.\n");
    text.push_str(if is_open { OPEN } else { CLOSED });
    let private = quoted(&context.private)?;
    text.push_str(&format!(
        "(allow network-bind (local unix-socket (subpath {private})))\n\
         (allow network-inbound (local unix-socket (subpath {private})))\n\
         (allow network-outbound (remote unix-socket (subpath {private})))\n"
    ));
    match reaches_hosts(&policy.network) {
        Some(hosts) if !is_open => write_hosts(hosts, context, text),
        _ => Ok(()),
    }
}

fn write_hosts(
    hosts: &[HostRule],
    context: &ProfileContext,
    text: &mut String,
) -> Result<(), SandboxError> {
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
