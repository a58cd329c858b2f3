//! Systems for which no way to confine a command was written. Everything is refused.

use std::convert::Infallible;
use std::sync::Arc;

use base::AbsPath;

use crate::{Finished, Order, Policy, Refused};

fn refused() -> Refused {
    Refused::System {
        reason:
            "there is a sandbox for Linux only; work on a Linux machine, or approve the command \
                 to run outside"
                .to_owned(),
    }
}

pub(crate) fn prepare() {}

pub(crate) fn start(_: &Policy, _: Order) -> Result<Running, Refused> {
    Err(refused())
}

#[derive(Debug)]
pub(crate) struct Room(Infallible);

impl Room {
    pub(crate) fn open(_: &Policy) -> Result<Self, Refused> {
        Err(refused())
    }

    pub(crate) fn start(room: &Arc<Self>, _: Order) -> Result<Running, Refused> {
        match room.0 {}
    }

    pub(crate) fn is_current(&self) -> bool {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct Running(Infallible);

impl Running {
    pub(crate) fn id(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn fixed(&self) -> Vec<AbsPath> {
        match self.0 {}
    }

    pub(crate) fn wait(self) -> Finished {
        match self.0 {}
    }

    pub(crate) fn ender(&self) -> Ender {
        match self.0 {}
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Ender(Infallible);

impl Ender {
    pub(crate) fn end(&self) {
        match self.0 {}
    }

    pub(crate) fn signal(&self, _: i32) {
        match self.0 {}
    }
}
