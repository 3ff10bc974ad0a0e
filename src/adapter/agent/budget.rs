//! What one agent may have: turns in an hour, and money in a day.
//!
//! A turn is reserved when its prompt is admitted, before a process is started for it, so that prompts that are admitted together
//! do not exceed the budget together. What a turn will cost is not known before it ends: it is reserved with the cost of the
//! dearest one of the last day. In memory only: a daemon that starts again has spent nothing.

use std::collections::{BTreeMap, VecDeque};

use crate::domain::{BootTime, SessionId, Span, Usage};

/// An amount in millionths of the currency in which the agent counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Amount(pub(super) u64);

impl Amount {
    /// Reads a number as it is configured or told; `None` if it is negative or no amount at all. Fractions of a millionth count
    /// as a whole one.
    pub(super) fn of(number: f64) -> Option<Amount> {
        let millionths = (number * 1e6).ceil();
        if !(0.0..=MOST).contains(&millionths) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is in the range of a u64"
        )]
        let millionths = millionths as u64;
        Some(Amount(millionths))
    }

    /// What a conversation has cost so far, if the agent says so.
    pub(super) fn told(usage: &Usage) -> Option<Amount> {
        let (amount, _) = usage.cost.as_ref()?;
        amount.parse().ok().and_then(Amount::of)
    }
}

/// The budget of one agent, and what is used of it.
pub(super) struct Budget {
    turns_per_hour: Option<u32>,
    cost_per_day: Option<Amount>,
    /// When the turns of the last hour began.
    began: VecDeque<BootTime>,
    /// What was spent in the last day, minute by minute.
    spent: VecDeque<Minute>,
    /// The sessions whose prompts were admitted and whose turns have not ended, and whether they have begun.
    under_way: BTreeMap<SessionId, bool>,
}

/// What was spent within a minute.
struct Minute {
    from: BootTime,
    cost: Amount,
    /// The cost of the dearest turn.
    dearest: Amount,
}

impl Budget {
    pub(super) fn new(turns_per_hour: Option<u32>, cost_per_day: Option<f64>) -> Budget {
        // An amount that is none, which the configuration does not let pass, is a day without turns.
        let cost_per_day = cost_per_day.map(|most| Amount::of(most).unwrap_or_default());
        let (began, spent) = (VecDeque::new(), VecDeque::new());
        Budget { turns_per_hour, cost_per_day, began, spent, under_way: BTreeMap::new() }
    }

    /// Returns when to ask again, if there can be no further turn now.
    pub(super) fn used_up_until(&mut self, now: BootTime) -> Option<BootTime> {
        while self.began.front().is_some_and(|began| began.after(HOUR) <= now) {
            self.began.pop_front();
        }
        while self.spent.front().is_some_and(|minute| minute.from.after(DAY) <= now) {
            self.spent.pop_front();
        }
        // Both bounds have to allow a turn, so the later time counts.
        let until = self.turns_until().into_iter().chain(self.cost_until()).max()?;
        // A turn that is under way may end, or not begin, and leave something of what is reserved for it.
        Some(if self.under_way.is_empty() { until } else { until.min(now.after(SOON)) })
    }

    fn turns_until(&self) -> Option<BootTime> {
        let most = usize::try_from(self.turns_per_hour?).unwrap_or(usize::MAX);
        let reserved = self.under_way.values().filter(|has_begun| !**has_begun).count();
        // The oldest turns, those at the places 0 to `over`, have to be an hour old before there is room for one more.
        let over = (self.began.len() + reserved).checked_sub(most)?;
        // Without a turn that has begun, the reserved ones take all, and `SOON` is the answer.
        Some(self.began.get(over).or(self.began.back()).map_or(NEVER, |began| began.after(HOUR)))
    }

    fn cost_until(&self) -> Option<BootTime> {
        let most = self.cost_per_day?;
        // The oldest minutes that have to be a day old before there is room for one turn more.
        let leaving = (0..=self.spent.len()).find(|leaving| self.has_room(most, *leaving));
        // An amount of nothing has room for no turn on any day.
        let Some(leaving) = leaving else { return Some(NEVER) };
        let last = self.spent.get(leaving.checked_sub(1)?)?;
        Some(last.from.after(DAY))
    }

    /// Whether one turn more has room, once the oldest minutes are a day old.
    fn has_room(&self, most: Amount, leaving: usize) -> bool {
        let minutes = || self.spent.iter().skip(leaving);
        let spent = minutes().fold(0_u64, |sum, minute| sum.saturating_add(minute.cost.0));
        let dearest = minutes().map(|minute| minute.dearest.0).max().unwrap_or(0);
        let turns = u64::try_from(self.under_way.len()).unwrap_or(u64::MAX).saturating_add(1);
        // Strictly less: without a known cost of a turn, the second condition alone would let a turn begin
        // on a budget that is used up.
        spent < most.0 && spent.saturating_add(dearest.saturating_mul(turns)) <= most.0
    }

    /// A prompt of the session was admitted.
    pub(super) fn reserve(&mut self, session: &SessionId) {
        self.under_way.entry(session.clone()).or_insert(false);
    }

    /// A turn of the session began.
    pub(super) fn begin(&mut self, session: &SessionId, now: BootTime) {
        self.under_way.insert(session.clone(), true);
        if self.turns_per_hour.is_some() {
            self.began.push_back(now);
        }
    }

    /// The turn of the session has ended, and cost this.
    pub(super) fn end(&mut self, session: &SessionId, cost: Amount, now: BootTime) {
        self.under_way.remove(session);
        if self.cost_per_day.is_none() || cost == Amount::default() {
            return;
        }
        // One entry a minute, so that a day has at most 1,440 entries.
        match self.spent.back_mut().filter(|minute| minute.from.after(MINUTE) > now) {
            Some(minute) => {
                minute.cost = Amount(minute.cost.0.saturating_add(cost.0));
                minute.dearest = minute.dearest.max(cost);
            }
            None => self.spent.push_back(Minute { from: now, cost, dearest: cost }),
        }
    }

    /// The prompt of the session was not sent.
    pub(super) fn release(&mut self, session: &SessionId) {
        if self.under_way.get(session) == Some(&false) {
            self.under_way.remove(session);
        }
    }
}

const NEVER: BootTime = BootTime::from_nanos(u64::MAX);
const MINUTE: Span = Span::from_millis(60_000);
const HOUR: Span = Span::from_millis(3_600_000);
const DAY: Span = Span::from_millis(86_400_000);
/// When to ask again while turns are under way. Each question of a run that waits is a few facts in the log, so it is not asked
/// by the second.
const SOON: Span = Span::from_millis(30_000);
/// The largest amount, in millionths: one that a floating-point number has without loss.
const MOST: f64 = 9e15;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::ZERO.after(Span::from_millis(seconds * 1_000))
    }

    fn session(name: &str) -> SessionId {
        SessionId::new(name).expect("an id")
    }

    fn amount(number: f64) -> Amount {
        Amount::of(number).expect("an amount")
    }

    /// Has a turn of this cost.
    fn turn(budget: &mut Budget, cost: f64, now: BootTime) {
        budget.reserve(&session("s"));
        budget.begin(&session("s"), now);
        budget.end(&session("s"), amount(cost), now);
    }

    #[test]
    fn amounts_are_read_upwards() {
        for (number, millionths) in [
            (0.0, Some(0)),
            (0.000_000_1, Some(1)),
            (2.5, Some(2_500_000)),
            (-0.1, None),
            (f64::NAN, None),
            (1e300, None),
        ] {
            assert_eq!(Amount::of(number).map(|amount| amount.0), millionths, "{number}");
        }
    }

    #[test]
    fn turns_are_counted_when_they_are_admitted() {
        let mut budget = Budget::new(Some(2), None);
        budget.reserve(&session("a"));
        assert_eq!(budget.used_up_until(at(0)), None);
        budget.reserve(&session("b"));
        assert_eq!(budget.used_up_until(at(0)), Some(at(30)), "both are reserved, and neither has begun");
        budget.release(&session("b"));
        assert_eq!(budget.used_up_until(at(1)), None, "one was not sent");
        budget.begin(&session("a"), at(2));
        budget.end(&session("a"), Amount::default(), at(3));
        turn(&mut budget, 0.0, at(10));
        assert_eq!(budget.used_up_until(at(20)), Some(at(3_602)), "when the first one is an hour old");
        assert_eq!(budget.used_up_until(at(3_602)), None);
    }

    #[test]
    fn an_empty_budget_has_no_turn() {
        for mut budget in [Budget::new(Some(0), None), Budget::new(None, Some(0.0))] {
            assert_eq!(budget.used_up_until(at(0)), Some(NEVER));
        }
    }

    #[test]
    fn what_a_turn_may_cost_is_reserved() {
        let mut budget = Budget::new(None, Some(1.0));
        turn(&mut budget, 0.4, at(0));
        assert_eq!(budget.used_up_until(at(60)), None, "0.4 and as much again");
        budget.reserve(&session("a"));
        assert_eq!(budget.used_up_until(at(60)), Some(at(90)), "0.4, what is reserved, and as much again");
        budget.begin(&session("a"), at(60));
        budget.end(&session("a"), amount(0.1), at(90));
        assert_eq!(budget.used_up_until(at(90)), None, "it was cheaper");
        turn(&mut budget, 0.2, at(100));
        assert_eq!(budget.used_up_until(at(200)), Some(at(86_400)), "when the dearest one is a day old");
        assert_eq!(budget.used_up_until(at(86_400)), None);
    }

    #[test]
    fn a_turn_that_costs_all_is_the_last_of_its_day() {
        let mut budget = Budget::new(None, Some(1.0));
        assert_eq!(budget.used_up_until(at(0)), None, "nothing is known of what it costs");
        turn(&mut budget, 7.0, at(0));
        assert_eq!(budget.used_up_until(at(1)), Some(at(86_400)));
        turn(&mut budget, 0.0, at(2));
        assert_eq!(budget.used_up_until(at(86_400)), None);
    }
}
