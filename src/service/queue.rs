//! Queues for work that only a few callers may do at the same time: the others wait on their own threads.
//!
//! Operators go first, then all others in the order of their arrival. A caller whose holder has all the turns that it may have
//! is passed by. Invariant: a free turn goes at once to the first caller that may have it, so a newcomer that finds a free turn
//! overtakes no caller that could use it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::holder::{Holder, PerHolder};
use super::quota::{Quota, Share};
use crate::limits::Limit;

/// The turns, and those who wait for one.
#[derive(Debug)]
pub(crate) struct Queue {
    turns: Arc<Quota>,
    /// How many callers of one holder may wait.
    own_waiting: PerHolder,
    /// How many callers may wait; operators do not count against the others.
    waiting: Limit,
    line: Mutex<Line>,
    granted: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    /// By whether the caller is no operator, then by arrival.
    waiters: BTreeMap<(bool, u64), Waiter>,
    next: u64,
}

#[derive(Debug)]
struct Waiter {
    holder: Holder,
    share: Option<Share>,
}

/// A turn; dropping it passes it on.
#[derive(Debug)]
pub(crate) struct Turn {
    queue: Arc<Queue>,
    share: Option<Share>,
}

impl Queue {
    pub(crate) fn new(turns: Arc<Quota>, own_waiting: PerHolder, waiting: Limit) -> Arc<Queue> {
        let (line, granted) = (Mutex::default(), Condvar::new());
        Arc::new(Queue { turns, own_waiting, waiting, line, granted })
    }

    /// Takes a turn, and waits for it if need be.
    ///
    /// # Errors
    /// The limit of those who may wait.
    pub(crate) fn enter(self: &Arc<Queue>, holder: Holder) -> Result<Turn, Limit> {
        let mut line = self.line();
        if let Ok(share) = self.turns.take(&holder, 1) {
            return Ok(Turn { queue: Arc::clone(self), share: Some(share) });
        }
        // False sorts before true, so operators stand in front. Operators and others are counted apart, so that neither can fill
        // the line of the other.
        let is_last = !holder.is_operator();
        let waiting = line.waiters.keys().filter(|(last, _)| *last == is_last).count();
        let own = line.waiters.values().filter(|waiter| waiter.holder == holder).count();
        if let Some(limit) = self.own_waiting.of(&holder).filter(|limit| own as u64 >= limit.value) {
            return Err(limit);
        }
        if waiting as u64 >= self.waiting.value {
            return Err(self.waiting);
        }
        let place = (is_last, line.next);
        line.next += 1;
        line.waiters.insert(place, Waiter { holder, share: None });
        loop {
            // Every turn ends in time, because all work has a time limit, so this wait needs none.
            line = self.granted.wait(line).unwrap_or_else(PoisonError::into_inner);
            if line.waiters.get(&place).is_none_or(|waiter| waiter.share.is_some()) {
                let share = line.waiters.remove(&place).and_then(|waiter| waiter.share);
                return Ok(Turn { queue: Arc::clone(self), share });
            }
        }
    }

    /// The quota of turns.
    pub(crate) fn turns(&self) -> &Arc<Quota> {
        &self.turns
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Nothing panics while it is locked.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Under the lock, so that no newcomer takes the turn before those who wait for it.
        let mut line = self.queue.line();
        self.share = None;
        // All are tried, in order: one that is at a limit of its own must not hold up those behind it.
        for waiter in line.waiters.values_mut().filter(|waiter| waiter.share.is_none()) {
            waiter.share = self.queue.turns.take(&waiter.holder, 1).ok();
        }
        drop(line);
        self.queue.granted.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::domain::{Caller, CallerRole, SessionId};

    const fn limit(name: &'static str, value: u64) -> Limit {
        Limit { name, value, unit: "turns", doc: "" }
    }

    fn session(id: &str) -> Holder {
        Holder::of_root(&Caller::session(SessionId::new(id).expect("an id")).as_model())
    }

    /// Lets a caller wait on a thread of its own; it says its name when it has its turn, and ends the turn.
    fn wait(queue: &Arc<Queue>, holder: Holder, name: &'static str, said: &mpsc::Sender<&'static str>) {
        let before = queue.line().waiters.len();
        let (waiting, said) = (Arc::clone(queue), said.clone());
        thread::spawn(move || {
            let turn = waiting.enter(holder).expect("there is room to wait");
            said.send(name).expect("the test listens");
            drop(turn);
        });
        while queue.line().waiters.len() == before {
            thread::yield_now();
        }
    }

    /// An observer that waits as often as it may leaves the line to others.
    #[test]
    fn observers_have_a_bound_on_those_who_wait() {
        let turns = Quota::new(PerHolder::each(limit("own", 2)), limit("all", 2), limit("reserve", 0));
        let waiting = PerHolder { family: limit("session-waiting", 1), token: limit("token-waiting", 1) };
        let queue = Queue::new(turns, waiting, limit("waiting", 2));
        let observer = || Holder::of_root(&Caller { role: CallerRole::Observer, ..Caller::OPERATOR });
        let (said, heard) = mpsc::channel();
        let held = (queue.enter(observer()).expect("free"), queue.enter(observer()).expect("free"));
        wait(&queue, observer(), "observer", &said);
        let refused = queue.enter(observer()).map_err(|limit| limit.name).err();
        assert_eq!(refused, Some("token-waiting"));
        wait(&queue, session("a"), "a", &said);
        drop(held);
        let mut done = [heard.recv().expect("one"), heard.recv().expect("the other")];
        done.sort_unstable();
        assert_eq!(done, ["a", "observer"]);
    }

    #[test]
    fn operators_go_first_and_nobody_waits_for_another_s_own_limit() {
        let turns = Quota::new(PerHolder::each(limit("own", 1)), limit("all", 2), limit("reserve", 0));
        let queue = Queue::new(turns, PerHolder::each(limit("own-waiting", 1)), limit("waiting", 2));
        let (said, heard) = mpsc::channel();
        let held = (queue.enter(session("a")).expect("free"), queue.enter(session("b")).expect("free"));
        wait(&queue, session("a"), "a", &said);
        let refused = queue.enter(session("a")).map_err(|limit| limit.name).err();
        assert_eq!(refused, Some("own-waiting"));
        wait(&queue, session("c"), "c", &said);
        let refused = queue.enter(session("d")).map_err(|limit| limit.name).err();
        assert_eq!(refused, Some("waiting"));
        wait(&queue, Holder::of_root(&Caller::OPERATOR), "operator", &said);
        drop(held.1);
        assert_eq!(heard.recv(), Ok("operator"));
        assert_eq!(heard.recv(), Ok("c"), "the session a has its turn already");
        drop(held.0);
        assert_eq!(heard.recv(), Ok("a"));
        while queue.turns.in_use() > 0 {
            thread::yield_now();
        }
        assert!(queue.line().waiters.is_empty());
    }
}
