//! Both protocols against other programs. One binary, because linking takes time.

// The shared files import from the library under these paths.
use connect::acp;
mod error {
    pub(crate) use connect::Error;
}

mod hosting;
mod servers;
mod serving;
