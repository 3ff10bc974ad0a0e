//! What both kinds of wires to a server have: whether anything still comes, and how much is still to be sent.

use std::sync::Arc;

use tokio::sync::watch;

/// Why nothing comes over a wire any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Down {
    /// The server has closed its output.
    Closed,
    /// The server does not read what it is sent. It may have ended.
    Unread,
    /// The server has done what no server may do, or cannot be reached, and is ended for that.
    Broken(Box<str>),
}

impl Down {
    /// The reason in words.
    pub(super) fn told(self) -> Box<str> {
        match self {
            Down::Closed => "it closed its output".into(),
            Down::Unread => "it does not read what it is sent".into(),
            Down::Broken(why) => why,
        }
    }
}

/// The state of a wire, for its two sides and for those who wait for its end.
pub(super) struct Wire {
    /// How many messages are to be sent.
    unsent: watch::Sender<usize>,
    down: watch::Sender<Option<Down>>,
}

/// A message that is to be sent; it is not any more when this is dropped.
pub(super) struct Unsent(Arc<Wire>);

impl Drop for Unsent {
    fn drop(&mut self) {
        self.0.unsent.send_modify(|count| *count -= 1);
    }
}

impl Wire {
    pub(super) fn new() -> Arc<Wire> {
        Arc::new(Wire { unsent: watch::Sender::new(0), down: watch::Sender::new(None) })
    }

    /// Counts a message that is to be sent, until the returned value is dropped.
    pub(super) fn unsent(self: &Arc<Wire>) -> Unsent {
        self.unsent.send_modify(|count| *count += 1);
        Unsent(Arc::clone(self))
    }

    /// Waits until few messages are to be sent: a server that asks and does not read must not fill the memory with answers.
    pub(super) async fn few_unsent(&self) {
        let _ = self.unsent.subscribe().wait_for(|count| *count < UNSENT_MAX).await;
    }

    /// Waits until nothing comes any more, and returns why.
    pub(super) async fn down(&self) -> Down {
        let mut seen = self.down.subscribe();
        // The sender is in `self`, so there is always an end to wait for.
        seen.wait_for(Option::is_some).await.ok().and_then(|down| down.clone()).unwrap_or(Down::Closed)
    }

    /// Why nothing comes any more; `None` if something could still come.
    pub(super) fn why_down(&self) -> Option<Down> {
        self.down.borrow().clone()
    }

    /// Notes that nothing comes any more. The first reason counts.
    pub(super) fn end(&self, why: Down) {
        self.down.send_if_modified(|down| {
            let is_first = down.is_none();
            *down = down.take().or(Some(why));
            is_first
        });
    }
}

/// As much of a fault as is shown.
pub(super) fn beginning(fault: &str) -> Box<str> {
    fault.chars().take(FAULT_CHARS).collect()
}

/// Messages that may be on their way to a server while more is read of it.
const UNSENT_MAX: usize = 64;
/// How much is shown of a fault.
const FAULT_CHARS: usize = 500;
