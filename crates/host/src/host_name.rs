//! The name of this machine.

/// Returns the name of this machine in the network, as shells report it; `None` if it is not valid text.
pub fn host_name() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_str().ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}
