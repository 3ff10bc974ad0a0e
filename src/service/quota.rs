//! Quotas: how much of one resource callers may hold at the same time.
//!
//! Each holder may hold a little, all callers together more, and the last part only operators. So no session, host or observer
//! can use a resource up, and operators still get their part when all others together hold theirs. A session and the fresh
//! sessions that come from it are one holder (`holder`). Invariant: what a share has taken is returned when the share is
//! dropped, and only then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::holder::{Holder, PerHolder};
use crate::domain::SessionId;
use crate::limits::Limit;

/// The bounds of a quota, and how much of it is in use.
#[derive(Debug)]
pub(crate) struct Quota {
    each: PerHolder,
    /// The bound for all callers together.
    all: Limit,
    /// How much of `all` only operators may use.
    reserve: Limit,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: u64,
    /// The part of `all` that callers other than operators hold.
    common: u64,
    /// What each holder has, but for operators.
    own: BTreeMap<Holder, u64>,
}

/// Part of a quota; dropping it returns the part.
#[derive(Debug)]
pub(crate) struct Share {
    quota: Arc<Quota>,
    holder: Holder,
    amount: u64,
}

impl Quota {
    pub(crate) fn new(each: PerHolder, all: Limit, reserve: Limit) -> Arc<Quota> {
        for own in [each.family, each.token] {
            debug_assert!(own.value <= all.value - reserve.value, "{} cannot be reached", own.name);
        }
        Arc::new(Quota { each, all, reserve, used: Mutex::default() })
    }

    /// Takes so much for a holder.
    ///
    /// # Errors
    /// The limit that this would exceed; nothing is taken then.
    pub(crate) fn take(self: &Arc<Quota>, holder: &Holder, amount: u64) -> Result<Share, Limit> {
        let mut used = self.used();
        if used.all.saturating_add(amount) > self.all.value {
            return Err(self.all);
        }
        // Operators have no bound of their own, and may use the reserve.
        if let Some(limit) = self.each.of(holder) {
            if used.common.saturating_add(amount) > self.all.value - self.reserve.value {
                return Err(self.all);
            }
            let own = used.own.get(holder).copied().unwrap_or(0).saturating_add(amount);
            // Last, so that the error names the holder's own bound only where there would be room for others.
            if own > limit.value {
                return Err(limit);
            }
            used.own.insert(holder.clone(), own);
            used.common += amount;
        }
        used.all += amount;
        Ok(Share { quota: Arc::clone(self), holder: holder.clone(), amount })
    }

    /// How much of it is in use.
    pub(crate) fn in_use(&self) -> u64 {
        self.used().all
    }

    /// How much of it the family of this root holds.
    pub(super) fn used_by_family(&self, root: &SessionId) -> u64 {
        self.used().own.get(&Holder::family(root)).copied().unwrap_or(0)
    }

    /// How much of it the family with the largest part holds.
    pub(super) fn used_by_largest_family(&self) -> u64 {
        let used = self.used();
        let families = used.own.iter().filter(|(holder, _)| holder.is_family());
        families.map(|(_, own)| *own).max().unwrap_or(0)
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        // Nothing panics while it is locked, so its numbers agree.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut used = self.quota.used();
        used.all -= self.amount;
        if self.holder.is_operator() {
            return;
        }
        used.common -= self.amount;
        if let Some(own) = used.own.get_mut(&self.holder) {
            *own -= self.amount;
            // Otherwise the table would grow with every holder that ever was.
            if *own == 0 {
                used.own.remove(&self.holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Caller, CallerRole};

    const fn limit(name: &'static str, value: u64) -> Limit {
        Limit { name, value, unit: "seats", doc: "" }
    }

    fn quota() -> Arc<Quota> {
        let each = PerHolder { family: limit("session", 2), token: limit("token", 3) };
        Quota::new(each, limit("all", 6), limit("reserve", 1))
    }

    fn session(id: &str) -> Holder {
        Holder::of_root(&Caller::session(SessionId::new(id).expect("an id")).as_model())
    }

    fn of_operators() -> Holder {
        Holder::of_root(&Caller::OPERATOR)
    }

    #[test]
    fn one_session_cannot_take_what_others_need() {
        let quota = quota();
        let held = [quota.take(&session("a"), 1), quota.take(&session("a"), 1)];
        assert_eq!(quota.take(&session("a"), 1).map_err(|limit| limit.name).err(), Some("session"));
        let others = [quota.take(&session("b"), 2), quota.take(&session("c"), 1)];
        assert!(held.iter().chain(&others).all(Result::is_ok));
        assert_eq!(quota.take(&session("d"), 1).map_err(|limit| limit.name).err(), Some("all"));
        let operator = quota.take(&of_operators(), 1);
        assert!(operator.is_ok(), "the reserve is for operators");
        assert!(quota.take(&of_operators(), 1).is_err());
        drop((held, others, operator));
        assert_eq!(quota.in_use(), 0);
        assert!(quota.used().own.is_empty(), "a session that holds nothing is not remembered");
    }

    #[test]
    fn observers_have_a_bound_and_leave_the_reserve_alone() {
        let quota = quota();
        let observer = Holder::of_root(&Caller { role: CallerRole::Observer, ..Caller::OPERATOR });
        let _held = quota.take(&observer, 3).expect("its own part");
        assert_eq!(quota.take(&observer, 1).map_err(|limit| limit.name).err(), Some("token"));
        let _others = quota.take(&session("a"), 2).expect("all but the reserve");
        assert_eq!(quota.take(&session("b"), 1).map_err(|limit| limit.name).err(), Some("all"));
        assert!(quota.take(&of_operators(), 1).is_ok());
    }

    #[test]
    fn a_refused_share_takes_nothing() {
        let quota = quota();
        assert!(quota.take(&session("a"), 3).is_err() && quota.take(&session("a"), u64::MAX).is_err());
        assert_eq!(quota.in_use(), 0);
        assert!(quota.take(&session("a"), 2).is_ok());
    }
}
