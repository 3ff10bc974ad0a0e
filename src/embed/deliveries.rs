//! Deliveries as an embedder receives them: by a blocking call, by an iterator, or as a stream.
//!
//! Each receiver has a queue of its own. Invariant: a slow receiver never delays a delivery; its queue is bounded, drops its
//! oldest entry when it is full, and counts what it dropped. The session's transcript has all of them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::domain::{Message, SessionId};
use crate::limits;

/// A message that was delivered into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The session.
    pub session: SessionId,
    /// The text of the message.
    pub text: String,
    /// The message as it stands in the transcript, with its provenance.
    pub message: Message,
}

/// The engine has stopped, and everything was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the scheduler has stopped")]
pub struct Ended;

/// A receiver of deliveries into built-in sessions, from its creation on.
pub struct Deliveries {
    queue: Arc<Queue>,
}

impl Deliveries {
    /// Waits for the next delivery.
    ///
    /// # Errors
    /// [`Ended`] once the engine has stopped and the queue is empty.
    pub fn recv(&self) -> Result<Delivery, Ended> {
        let mut state = self.queue.lock();
        loop {
            if let Some(delivery) = state.waiting.pop_front() {
                return Ok(delivery);
            }
            if state.has_ended {
                return Err(Ended);
            }
            state = self.queue.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for the next delivery, at most this long; `Ok(None)` if there was none.
    ///
    /// # Errors
    /// [`Ended`] once the engine has stopped and the queue is empty.
    pub fn recv_timeout(&self, at_most: Duration) -> Result<Option<Delivery>, Ended> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.has_ended;
        let waited = self.queue.arrived.wait_timeout_while(self.queue.lock(), at_most, idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match state.waiting.pop_front() {
            None if state.has_ended => Err(Ended),
            next => Ok(next),
        }
    }

    /// The next delivery, for async code; `None` once the engine has stopped and the queue is empty.
    pub async fn next(&mut self) -> Option<Delivery> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Polls for the next delivery, as a `Stream` does. It needs no runtime: the delivering thread wakes the task.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Delivery>> {
        let mut state = self.queue.lock();
        if let Some(delivery) = state.waiting.pop_front() {
            return Poll::Ready(Some(delivery));
        }
        if state.has_ended {
            return Poll::Ready(None);
        }
        // Replaces the waker of the last poll: the receiver may have moved to another task.
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// How many deliveries this receiver has missed, because it was more than `limits::DELIVERIES_QUEUED` behind.
    pub fn missed(&self) -> u64 {
        self.queue.lock().missed
    }
}

impl Iterator for Deliveries {
    type Item = Delivery;

    /// Waits for the next delivery; `None` once the engine has stopped and the queue is empty.
    fn next(&mut self) -> Option<Delivery> {
        self.recv().ok()
    }
}

/// The queue between the engine and one receiver.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Delivery>,
    missed: u64,
    has_ended: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves the queue valid, at worst without one delivery. Giving up here would lose all later ones.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the receiver, whether a thread or a task.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        self.arrived.notify_all();
        // Outside the lock: an executor may poll the task at once, on this thread.
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Distributes deliveries to all receivers.
#[derive(Default)]
pub(super) struct Fanout {
    receivers: Mutex<Vec<Weak<Queue>>>,
}

impl Fanout {
    pub(super) fn subscribe(&self) -> Deliveries {
        let queue = Arc::<Queue>::default();
        self.receivers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&queue));
        Deliveries { queue }
    }

    /// Called on the delivering thread for each delivery.
    pub(super) fn publish(&self, session: &SessionId, message: &Message) {
        self.each(|state| {
            if state.waiting.len() as u64 >= limits::DELIVERIES_QUEUED.value {
                state.waiting.pop_front();
                state.missed += 1;
            }
            let (session, message) = (session.clone(), message.clone());
            state.waiting.push_back(Delivery { session, text: message.text(), message });
            debug_assert!(
                state.waiting.len() as u64 <= limits::DELIVERIES_QUEUED.value,
                "the queue is bounded"
            );
        });
    }

    /// No delivery follows any more.
    pub(super) fn end(&self) {
        self.each(|state| state.has_ended = true);
    }

    fn each(&self, change: impl Fn(&mut State)) {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        // A receiver that was dropped has no queue any more.
        receivers.retain(|receiver| receiver.strong_count() > 0);
        let queues: Vec<Arc<Queue>> = receivers.iter().filter_map(Weak::upgrade).collect();
        // Before the receivers wake up: one of them may subscribe again on this thread.
        drop(receivers);
        for queue in queues {
            queue.change(&change);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;
    use crate::domain::Moment;

    fn publish(fanout: &Fanout, text: &str) {
        let session = SessionId::new("one").expect("an id");
        fanout.publish(&session, &Message::user(text, Moment::EPOCH));
    }

    fn texts(deliveries: &Deliveries) -> Vec<String> {
        std::iter::from_fn(|| deliveries.recv_timeout(Duration::ZERO).ok().flatten())
            .map(|it| it.text)
            .collect()
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn every_receiver_gets_what_comes_after_it() {
        let fanout = Fanout::default();
        let first = fanout.subscribe();
        publish(&fanout, "a");
        let second = fanout.subscribe();
        publish(&fanout, "b");
        assert_eq!((texts(&first), texts(&second)), (vec!["a".into(), "b".into()], vec!["b".to_owned()]));
        fanout.end();
        assert_eq!((first.recv(), second.recv_timeout(Duration::ZERO)), (Err(Ended), Err(Ended)));
    }

    #[test]
    fn a_slow_receiver_misses_the_oldest_and_is_told_how_many() {
        let fanout = Fanout::default();
        let deliveries = fanout.subscribe();
        for number in 0..=limits::DELIVERIES_QUEUED.value + 1 {
            publish(&fanout, &number.to_string());
        }
        assert_eq!(deliveries.missed(), 2);
        assert_eq!(texts(&deliveries).first().map(String::as_str), Some("2"));
    }

    #[test]
    fn a_task_is_woken_by_a_delivery_and_by_the_end() {
        let (fanout, wakes) = (Fanout::default(), Arc::<Wakes>::default());
        let (mut deliveries, waker) = (fanout.subscribe(), Waker::from(Arc::clone(&wakes)));
        let mut context = Context::from_waker(&waker);
        assert!(deliveries.poll_next(&mut context).is_pending());
        publish(&fanout, "a");
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
        assert!(matches!(deliveries.poll_next(&mut context), Poll::Ready(Some(it)) if it.text == "a"));
        assert!(deliveries.poll_next(&mut context).is_pending());
        fanout.end();
        assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
        assert_eq!(deliveries.poll_next(&mut context), Poll::Ready(None));
    }

    #[test]
    fn receivers_that_were_dropped_are_forgotten() {
        let fanout = Fanout::default();
        drop(fanout.subscribe());
        publish(&fanout, "a");
        assert!(fanout.receivers.lock().expect("no test panics here").is_empty());
    }
}
