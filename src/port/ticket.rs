//! Blocking wait for a store's answer to one batch.

use std::sync::mpsc::{Receiver, sync_channel};

use super::{Done, StoreFault};
use crate::domain::Cursor;

/// The answer to one batch, for a caller that can wait for it.
///
/// ```
/// use reveille::domain::Cursor;
/// use reveille::port::Ticket;
///
/// let (ticket, done) = Ticket::new();
/// done(Ok(Cursor::new(7)));
/// assert_eq!(ticket.wait(), Ok(Cursor::new(7)));
/// ```
#[derive(Debug)]
pub struct Ticket(Receiver<Result<Cursor, StoreFault>>);

impl Ticket {
    /// Makes a ticket, and the callback that resolves it.
    pub fn new() -> (Ticket, Done) {
        // Room for the one answer, so that the store's thread never blocks on it.
        let (sender, receiver) = sync_channel(1);
        // Sending fails only if the ticket was dropped, and then there is no waiter.
        (Ticket(receiver), Box::new(move |answer| _ = sender.send(answer)))
    }

    /// Makes a ticket that is already resolved with a failure.
    pub fn failed(fault: StoreFault) -> Ticket {
        let (ticket, done) = Ticket::new();
        done(Err(fault));
        ticket
    }

    /// Waits until the batch is committed or has failed.
    ///
    /// # Errors
    /// The fault of the store; [`StoreFault::Closed`] if the store went away without answering.
    pub fn wait(self) -> Result<Cursor, StoreFault> {
        self.0.recv().unwrap_or(Err(StoreFault::Closed))
    }
}
