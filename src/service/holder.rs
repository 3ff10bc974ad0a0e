//! Holders: for whom a quota counts.
//!
//! A session counts together with the fresh sessions that come from it. Otherwise each session that an agent opens would bring
//! the agent another share. What lives elsewhere: how much a holder may have (`quota`). Invariant: [`Service::holder`] alone
//! makes a holder from a caller, so no surface counts a caller as somebody else.

use super::Service;
use crate::domain::{Caller, CallerRole, SessionId, TokenName};
use crate::limits::Limit;

/// The bounds of each holder. Operators have none but that of all callers together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerHolder {
    /// For each family of sessions.
    pub(super) family: Limit,
    /// For each host token, and for all observers together.
    pub(super) token: Limit,
}

impl PerHolder {
    /// Returns the bound of a holder.
    pub(super) fn of(&self, holder: &Holder) -> Option<Limit> {
        match holder.0 {
            Kind::Operator => None,
            Kind::Observers | Kind::Host(_) => Some(self.token),
            Kind::Family(_) => Some(self.family),
        }
    }

    /// Makes bounds that are the same for all.
    #[cfg(test)]
    pub(crate) const fn each(limit: Limit) -> PerHolder {
        PerHolder { family: limit, token: limit }
    }
}

/// For whom a quota counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder(Kind);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Operator,
    /// All observers together: the token of observers, and the logins and links that come from it.
    Observers,
    /// The host token of this name, for whatever session it acts.
    Host(TokenName),
    /// A family of sessions, by its root.
    Family(SessionId),
}

impl Service {
    /// Returns the holder that a caller counts as. For a session this reads the engine's state, so a request that takes nothing
    /// does not ask. A session's root never changes, so a connection asks once.
    pub(crate) fn holder(&self, caller: &Caller) -> Holder {
        Holder::of(caller, |session| self.handle().view(|state| state.root_of(session).clone()))
    }
}

impl Holder {
    fn of(caller: &Caller, root_of: impl FnOnce(&SessionId) -> SessionId) -> Holder {
        Holder(match (caller.role, caller.scope.session()) {
            (CallerRole::Session, Some(session)) => Kind::Family(root_of(session)),
            // Whatever has neither a session nor a host's token shares one part.
            (CallerRole::Observer | CallerRole::Session | CallerRole::Channel, _) => Kind::Observers,
            // A host without a token was connected by an operator, or runs in this process.
            (CallerRole::Host, _) => caller.via.host().cloned().map_or(Kind::Operator, Kind::Host),
            (CallerRole::Operator, _) => Kind::Operator,
        })
    }

    /// Makes the holder of the family with this root.
    pub(super) fn family(root: &SessionId) -> Holder {
        Holder(Kind::Family(root.clone()))
    }

    /// Returns whether operators are meant, who may use what is reserved.
    pub(super) fn is_operator(&self) -> bool {
        self.0 == Kind::Operator
    }

    /// Returns whether a family of sessions is meant.
    pub(super) fn is_family(&self) -> bool {
        matches!(self.0, Kind::Family(_))
    }

    /// Makes the holder that a caller counts as where no session comes from another one.
    #[cfg(test)]
    pub(crate) fn of_root(caller: &Caller) -> Holder {
        Holder::of(caller, SessionId::clone)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::{
        BootTime, Fact, HostId, Moment, Now, ScheduleId, SessionConfig, SessionFact, SessionProvenance, Via,
    };
    use crate::engine::State;
    use crate::limits;
    use crate::service::{Places, Quota, Share};

    const NOW: Now = Now { wall: Moment::EPOCH, boot: BootTime::ZERO };

    fn token(session: &SessionId) -> Caller {
        Caller { role: CallerRole::Session, via: Via::Session, ..Caller::session(session.clone()) }
    }

    /// An engine with a session, and so many that come from it, each from the one before; and what all of them count as.
    fn family(size: usize) -> (State, Vec<Holder>) {
        let id = |number: usize| SessionId::new(&format!("s{number}")).expect("an id");
        let mut state = State::new();
        for number in 0..size {
            let provenance = number.checked_sub(1).map(|before| {
                let schedule = ScheduleId::new("sch-1").expect("an id");
                Box::new(SessionProvenance {
                    origin: id(before),
                    root: id(0),
                    schedule,
                    label: None,
                    chain: None,
                })
            });
            let config = Arc::<SessionConfig>::default();
            let opened = SessionFact::Opened { host: HostId::LOCAL, config, provenance };
            state.apply(NOW, Fact::Session(id(number), opened, None));
        }
        let holders = (0..size).map(|number| holder(&state, &token(&id(number)))).collect();
        (state, holders)
    }

    fn holder(state: &State, caller: &Caller) -> Holder {
        Holder::of(caller, |session| state.root_of(session).clone())
    }

    /// How much of a quota is taken at a time: of bytes a quarter.
    fn step(limit: Limit) -> u64 {
        if limit.unit == "bytes" { limit.value / 4 } else { 1 }
    }

    /// Takes parts for each of these in turn, up to the limit that is returned.
    fn take_all(quota: &Arc<Quota>, takers: &[Holder], step: u64) -> (Limit, Vec<Share>) {
        let (mut held, mut takers) = (Vec::new(), takers.iter().cycle());
        loop {
            match quota.take(takers.next().expect("they take turns"), step) {
                Ok(share) => held.push(share),
                Err(limit) => return (limit, held),
            }
        }
    }

    /// One token of a host that acts for many sessions, and everybody who observes.
    #[test]
    fn a_host_token_and_the_observers_leave_half_to_others() {
        let name = |text: &str| TokenName::new(text).expect("a name");
        let session = |number: usize| SessionId::new(&format!("s{number}")).expect("an id");
        let state = State::new();
        let of_host = |token: &str| {
            let host = Caller::host(name(token));
            let acting = (0..9).map(|number| host.acting_for(session(number)));
            [host.clone()].into_iter().chain(acting).map(|caller| holder(&state, &caller)).collect::<Vec<_>>()
        };
        let observers = ["observer", "browser 1", "browser 2"].map(|token| {
            let via = Via::Operator(name(token));
            holder(&state, &Caller { role: CallerRole::Observer, via, ..Caller::OPERATOR })
        });
        let places = Places::default();
        let quotas: [(&Arc<Quota>, Limit); 5] = [
            (&places.upgrades, limits::HTTP_TOKEN_UPGRADES),
            (&places.subscriptions, limits::GRAPHQL_TOKEN_SUBSCRIPTIONS),
            (&places.bodies, limits::HTTP_TOKEN_BODIES),
            (places.long.turns(), limits::TOKEN_LONG_QUERIES),
            (&places.answers, limits::TOKEN_ANSWERS_BYTES),
        ];
        for (quota, limit) in quotas {
            let step = step(limit);
            for takers in [of_host("editor"), observers.to_vec()] {
                let (refused, held) = take_all(quota, &takers, step);
                assert_eq!((refused.name, held.len() as u64 * step), (limit.name, limit.value));
                let alice = holder(&state, &token(&session(0)));
                assert!(quota.take(&alice, 1).is_ok(), "a session has places: {}", limit.name);
                assert!(quota.take(&of_host("shell")[0], step).is_ok(), "and another host: {}", limit.name);
                assert_eq!(quota.used_by_largest_family(), 0, "hosts and observers are no family");
            }
        }
    }

    #[test]
    fn a_family_has_the_share_of_one_session() {
        let (state, family) = family(65);
        let stranger = holder(&state, &token(&SessionId::new("stranger").expect("an id")));
        let places = Places::default();
        let quotas: [(&Arc<Quota>, Limit); 5] = [
            (&places.upgrades, limits::HTTP_SESSION_UPGRADES),
            (&places.subscriptions, limits::GRAPHQL_SESSION_SUBSCRIPTIONS),
            (&places.bodies, limits::HTTP_SESSION_BODIES),
            (places.long.turns(), limits::SESSION_LONG_QUERIES),
            (&places.answers, limits::SESSION_ANSWERS_BYTES),
        ];
        for (quota, limit) in quotas {
            let step = step(limit);
            let (refused, held) = take_all(quota, &family, step);
            assert_eq!((refused.name, held.len() as u64 * step), (limit.name, limit.value));
            assert!(family.iter().all(|member| quota.take(member, 1).is_err()), "{}", limit.name);
            assert!(quota.take(&stranger, step).is_ok(), "another family has a share: {}", limit.name);
            assert_eq!(quota.used_by_family(&SessionId::new("s0").expect("an id")), limit.value);
            drop(held);
            assert!(quota.take(&family[64], step).is_ok(), "what one member returns is there for all");
        }
    }
}
