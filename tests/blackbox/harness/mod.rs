//! The daemon of a test, what asks it, and what records what it did.

pub(crate) mod ask;
pub(crate) mod command;
pub(crate) mod daemon;
pub(crate) mod diary;
pub(crate) mod figures;
pub(crate) mod ledger;
pub(crate) mod life;
pub(crate) mod load;
pub(crate) mod sockets;
pub(crate) mod stalls;
pub(crate) mod stream;
