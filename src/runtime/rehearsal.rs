//! Tries a call without making it: inputs are decided on, and nothing is applied.
//!
//! A call submits one input and then reads what has become of it. Nothing has become of a rehearsed one, so the call is
//! ended with a refusal, and the rehearsal remembers that the engine would have accepted the input.
//!
//! Invariant: whatever a rehearsed call can reach of a handle has no effect, which covers inputs, tokens of sessions and
//! listening watches. Hosts, calls, waiters and the outside are changed only by what has no rehearsal (`service`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::handle::Handle;
use super::shared::Shared;
use crate::domain::{Entropy, Refusal};
use crate::engine::Input;

/// The rehearsal of one call.
#[derive(Debug, Default)]
pub(crate) struct Rehearsal {
    accepted: AtomicBool,
}

impl Rehearsal {
    /// A handle to the same engine, whose inputs are rehearsed.
    pub(crate) fn on(handle: &Handle) -> (Handle, Arc<Rehearsal>) {
        let rehearsal = Arc::<Rehearsal>::default();
        (Handle { rehearsal: Some(Arc::clone(&rehearsal)), ..handle.clone() }, rehearsal)
    }

    /// Whether the engine would have accepted an input.
    pub(crate) fn is_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }

    /// The refusal that ends the rehearsed call.
    pub(super) fn decide(&self, shared: &Shared, input: Input) -> Refusal {
        let refusal = shared.core().would_refuse(input, shared.now(), REHEARSED);
        self.accepted.fetch_or(refusal.is_none(), Ordering::Relaxed);
        // An accepted input needs a refusal as well, to end the call. It is not shown: the caller asks `is_accepted` first.
        refusal.unwrap_or(Refusal::Stopping)
    }
}

/// The random bits of rehearsed inputs. What they name is never kept.
pub(super) const REHEARSED: Entropy = Entropy([0xff; 16]);
