//! Both protocols against other programs. One binary, because linking takes time.

mod hosting;
mod servers;
mod serving;
