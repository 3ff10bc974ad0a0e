//! Waiting for a store's answer.

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
    /// A ticket, and what resolves it.
    pub fn new() -> (Ticket, Done) {
        let (sender, receiver) = sync_channel(1);
        // Whoever no longer waits needs no answer.
        (Ticket(receiver), Box::new(move |answer| _ = sender.send(answer)))
    }

    /// A ticket that has failed before anything could wait.
    pub fn failed(fault: StoreFault) -> Ticket {
        let (ticket, done) = Ticket::new();
        done(Err(fault));
        ticket
    }

    /// Waits until the batch is kept or failed.
    ///
    /// # Errors
    /// What the store said; [`StoreFault::Closed`] where it went away without a word.
    pub fn wait(self) -> Result<Cursor, StoreFault> {
        self.0.recv().unwrap_or(Err(StoreFault::Closed))
    }
}
