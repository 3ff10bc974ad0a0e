//! Lists schedules, sessions and decisions: filters them, sorts them, and cuts them into pages.
//!
//! Invariant: every order is total, so a list does not depend on where records are stored. What the caller may not
//! see is neither listed nor counted.

use std::cmp::Ordering;

use super::page::{LIST, Page, Window, WindowParams};
use super::params::{CheckedParams, OneOrMany, enums, params, refused};
use super::registry::{ParamGroups, ResolverError};
use super::schedule_filter::ScheduleFilter;
use super::view::View;
use crate::domain::{
    Cursor, Decision, DecisionKind, Moment, Reason, RunId, ScheduleId, Scope, SessionId, Via, names,
};
use crate::edn::Map;
use crate::engine::{Key, ScheduleRecord, SessionRecord};

names! {
    /// The orders in which schedules can be listed. Ties are broken by the other instant, then by id.
    ScheduleOrder {
        /// Earliest slot first.
        FireAt = "fire-at",
        /// Latest slot first.
        FireAtDesc = "fire-at-desc",
        /// Oldest first.
        CreatedAt = "created-at",
        /// Newest first.
        CreatedAtDesc = "created-at-desc",
    }
}

enums! {
    ScheduleOrder = "schedule-order",
}

params! {
    /// The order of a list of schedules.
    pub OrderParams {
        /// The order of the list. Earliest fire-at first if omitted.
        optional order: ScheduleOrder = "order-by",
    }
}

params! {
    /// A filter on decisions: all conditions that are given must hold.
    pub DecisionFilter folded as "filter": "decision-filter" {
        /// Only decisions of one of these kinds.
        optional kinds: OneOrMany<DecisionKind> = "kind",
        /// Only decisions about the schedule with this id.
        optional schedule: Box<str> = "schedule-id",
        /// Only decisions about the session with this id.
        optional session: Box<str> = "session-id",
        /// Only decisions of one actor: the id of a session, the name of an operator's token, or `operator` for all of them.
        optional by: Box<str> = "by",
        /// Only decisions at this instant or later.
        optional from: Moment = "from",
        /// Only decisions before this instant.
        optional to: Moment = "to",
        /// Only decisions with one of these reasons.
        optional reasons: OneOrMany<Reason> = "reason",
        /// Only decisions about the run with this id.
        optional run: Box<str> = "run-id",
    }
}

/// The parameters of a list of schedules.
pub(crate) const OF_SCHEDULES: ParamGroups =
    &[ScheduleFilter::GROUP, OrderParams::GROUP, WindowParams::GROUP];
/// The parameters of a count of schedules.
pub(super) const OF_COUNTS: ParamGroups = &[ScheduleFilter::GROUP];
/// The parameters of a list of sessions or messages.
pub(super) const OF_WINDOWS: ParamGroups = &[WindowParams::GROUP];
/// The parameters of a list of decisions.
pub(super) const OF_DECISIONS: ParamGroups = &[DecisionFilter::GROUP, WindowParams::GROUP];

/// The owner of the schedules that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// All sessions. If the caller is a session: only itself.
    All,
    /// One session.
    Session(Key),
    /// A session that does not exist for the caller: the list is empty.
    Nobody,
}

/// A position in a list of schedules: the values that its entries are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListPosition {
    slot: Moment,
    created: Moment,
    id: ScheduleId,
}

/// An entry of a list of schedules, with the values that it is sorted by.
struct ListEntry<'a> {
    slot: Moment,
    created: Moment,
    record: &'a ScheduleRecord,
    key: Key,
}

/// Lists schedules.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn schedules(view: &View<'_>, whose: Whose, params: &Map) -> Result<Page, ResolverError> {
    schedules_that(view, whose, params, |_| true)
}

/// Lists the schedules that are what is asked for, such as watches.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn schedules_that(
    view: &View<'_>,
    whose: Whose,
    params: &Map,
    is_meant: impl Fn(&ScheduleRecord) -> bool,
) -> Result<Page, ResolverError> {
    // Most queries pass no parameters. They need no filter, no window and no parsing.
    if params.is_empty() {
        let mut entries = collect(view, whose, is_meant);
        entries.sort_unstable_by(|one, two| ScheduleOrder::FireAt.compare(one, &two.place()));
        let all = 0..entries.len();
        return Ok(Page::of(&entries, all, number, cursor));
    }
    let given = CheckedParams::of(params);
    let filter = ScheduleFilter::read(&given).map_err(refused(LIST))?;
    let order = OrderParams::read(&given).map_err(refused(LIST))?.order.unwrap_or(ScheduleOrder::FireAt);
    // A plain id works as a cursor while its schedule exists. A cursor also works afterwards, because it contains the
    // position.
    let of_id = |text: &str| view.schedule(view.state.schedule_key(&ScheduleId::new(text).ok()?)?);
    let place = |text: &str| ListPosition::parse(text).or_else(|| of_id(text).map(ListPosition::of));
    let window = Window::read(&given, place)?;
    // The window is cut last: it counts entries of the filtered list, and searches a sorted one.
    let mut entries = collect(view, whose, |record| is_meant(record) && filter.admits(view.state, record));
    entries.sort_unstable_by(|one, two| order.compare(one, &two.place()));
    let range = window.cut(&entries, |entry, place| order.compare(entry, &place.by_ref()));
    Ok(Page::of(&entries, range, number, cursor))
}

/// Counts the schedules that the filter admits.
pub(super) fn count_schedules(view: &View<'_>, whose: Whose, params: &Map) -> Result<u64, ResolverError> {
    let given = CheckedParams::of(params);
    let filter = ScheduleFilter::read(&given).map_err(refused(LIST))?;
    Ok(admitted(view, whose, &filter).len() as u64)
}

/// Returns the cursor of a schedule, which is valid in every order.
pub(super) fn schedule_cursor(record: &ScheduleRecord) -> String {
    let schedule = record.schedule();
    // All values that any order compares. The id comes last, because it may itself contain the separator.
    format!("{}~{}~{}", record.fire_at(), schedule.created_at, schedule.id)
}

/// Lists sessions, by id.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn sessions(view: &View<'_>, params: &Map) -> Result<Page, ResolverError> {
    let given = CheckedParams::of(params);
    let window = Window::read(&given, |text| SessionId::new(text).ok())?;
    let id = |key: Key| view.session(key).map(|record| (record.id(), key));
    // A session sees no session but itself, so nothing is scanned for it.
    let mut entries: Vec<(&SessionId, Key)> = match view.scope.session() {
        Some(own) => view.session_key(own).and_then(id).into_iter().collect(),
        None => view.state.session_keys().filter_map(id).collect(),
    };
    // Ids are unique, so the number of a session never decides the order.
    entries.sort_unstable();
    let range = window.cut(&entries, |(id, _), place| (*id).cmp(place));
    let cursor = |view: &View<'_>, number| {
        let key = Key::numbered(u32::try_from(number).ok()?);
        view.session(key).map(|session| session.id().to_string())
    };
    Ok(Page::of(&entries, range, |(_, key)| u64::from(key.number()), cursor))
}

/// Lists the decisions that the feed retains, oldest first.
///
/// # Errors
/// Returns a parameter that is invalid.
pub(super) fn decisions(view: &View<'_>, params: &Map) -> Result<Page, ResolverError> {
    let given = CheckedParams::of(params);
    // A cursor of the feed is the cursor of a decision, so a subscriber can continue with a list.
    let window = Window::read(&given, |text| text.parse().ok().map(Cursor::new))?;
    let filter = DecisionFilter::read(&given).map_err(refused(LIST))?;
    let about = About::of(&filter);
    let is_about = |decision: &Decision| about.as_ref().is_some_and(|about| about.admits(decision));
    let is_meant =
        |decision: &&Decision| is_about(decision) && view.concerns(decision) && filter.admits(view, decision);
    let entries = view.decisions.iter().filter(is_meant);
    // The feed is in order of cursors, so the list needs no sorting.
    let entries: Vec<Cursor> = entries.map(|decision| decision.cursor).collect();
    let range = window.cut(&entries, Ord::cmp);
    Ok(Page::of(&entries, range, |cursor| cursor.number(), |_, number| Some(number.to_string())))
}

/// Returns whether the actor of a decision has this name, as far as the caller may know the actor.
fn is_by(view: &View<'_>, decision: &Decision, name: &str) -> bool {
    let Some(by) = &decision.by else {
        // Without an explicit creator, a schedule was created by its owner.
        let is_creation = decision.kind == DecisionKind::ScheduleCreated;
        return is_creation && decision.session.as_ref().is_some_and(|owner| owner.as_str() == name);
    };
    by.seen_by(view.scope).is_some_and(|by| {
        let is_scope = match &by.scope {
            Scope::Session(session) => session.as_str() == name,
            Scope::Operator => name == "operator",
        };
        // The name may be that of a session or, of an operator, that of its token.
        is_scope || by.via.as_ref().and_then(Via::token).is_some_and(|it| it.as_str() == name)
    })
}

/// Returns the entries of a list, unsorted.
fn collect<'a>(
    view: &View<'a>,
    whose: Whose,
    is_listed: impl Fn(&ScheduleRecord) -> bool,
) -> Vec<ListEntry<'a>> {
    let record = |key: Key| view.schedule(key).filter(|record| is_listed(record));
    let entry = |key: Key| record(key).map(|record| ListEntry::new(key, record));
    schedules_of(view, whose).into_iter().filter_map(entry).collect()
}

/// Returns the schedules that a filter admits, unsorted.
pub(super) fn admitted<'a>(
    view: &View<'a>,
    whose: Whose,
    filter: &ScheduleFilter,
) -> Vec<&'a ScheduleRecord> {
    let record = |key: Key| view.schedule(key).filter(|record| filter.admits(view.state, record));
    schedules_of(view, whose).into_iter().filter_map(record).collect()
}

/// Returns the keys of the schedules that are listed, unsorted.
pub(super) fn schedules_of(view: &View<'_>, whose: Whose) -> Vec<Key> {
    match whose {
        Whose::All => match view.scope.session() {
            // A session lists only what it owns. It can read a shared schedule of another session by id.
            Some(own) => schedules_of(view, view.session_key(own).map_or(Whose::Nobody, Whose::Session)),
            None => view.state.schedule_keys().collect(),
        },
        Whose::Session(session) => {
            view.session(session).into_iter().flat_map(SessionRecord::schedule_keys).collect()
        }
        Whose::Nobody => Vec::new(),
    }
}

fn number(entry: &ListEntry<'_>) -> u64 {
    u64::from(entry.key.number())
}

fn cursor(view: &View<'_>, number: u64) -> Option<String> {
    view.schedule(Key::numbered(u32::try_from(number).ok()?)).map(schedule_cursor)
}

impl<'a> ListEntry<'a> {
    fn new(key: Key, record: &'a ScheduleRecord) -> ListEntry<'a> {
        let schedule = record.schedule();
        ListEntry { slot: record.fire_at(), created: schedule.created_at, record, key }
    }

    /// Returns the position of the entry.
    fn place(&self) -> (Moment, Moment, &ScheduleId) {
        (self.slot, self.created, &self.record.schedule().id)
    }
}

impl ListPosition {
    fn parse(text: &str) -> Option<ListPosition> {
        // Three parts at most, because the id may contain the separator.
        let mut parts = text.splitn(3, '~');
        let mut moment = || Moment::parse(parts.next()?).ok();
        let (slot, created) = (moment()?, moment()?);
        Some(ListPosition { slot, created, id: ScheduleId::new(parts.next()?).ok()? })
    }

    fn of(record: &ScheduleRecord) -> ListPosition {
        let schedule = record.schedule();
        ListPosition { slot: record.fire_at(), created: schedule.created_at, id: schedule.id.clone() }
    }

    fn by_ref(&self) -> (Moment, Moment, &ScheduleId) {
        (self.slot, self.created, &self.id)
    }
}

impl ScheduleOrder {
    /// Compares an entry with a position.
    fn compare(self, entry: &ListEntry<'_>, (slot, created, id): &(Moment, Moment, &ScheduleId)) -> Ordering {
        let slots = || entry.slot.cmp(slot);
        let creations = || entry.created.cmp(created);
        let ids = || entry.record.schedule().id.cmp(id);
        match self {
            // A descending order reverses the ties too, so it is exactly the ascending list backwards.
            ScheduleOrder::FireAt => slots().then_with(creations).then_with(ids),
            ScheduleOrder::FireAtDesc => slots().then_with(creations).then_with(ids).reverse(),
            ScheduleOrder::CreatedAt => creations().then_with(slots).then_with(ids),
            ScheduleOrder::CreatedAtDesc => creations().then_with(slots).then_with(ids).reverse(),
        }
    }
}

/// The ids that a filter names, parsed once for all decisions.
struct About {
    schedule: Option<ScheduleId>,
    run: Option<RunId>,
}

impl About {
    /// Returns `None` if a text cannot be an id: it matches nothing, and is no error.
    fn of(filter: &DecisionFilter) -> Option<About> {
        let schedule = filter.schedule.as_deref().map(ScheduleId::new).transpose().ok()?;
        let run = match &filter.run {
            Some(id) => Some(RunId::parse(id)?),
            None => None,
        };
        Some(About { schedule, run })
    }

    fn admits(&self, decision: &Decision) -> bool {
        self.schedule.as_ref().is_none_or(|id| decision.schedule() == Some(id))
            && self.run.as_ref().is_none_or(|id| decision.run() == Some(id))
    }
}

impl DecisionFilter {
    /// Returns whether a decision meets all conditions that are given, but those on ids of schedules and runs ([`About`]).
    fn admits(&self, view: &View<'_>, decision: &Decision) -> bool {
        let is_in = |id: &str| decision.session.as_ref().is_some_and(|own| own.as_str() == id);
        self.kinds.as_ref().is_none_or(|OneOrMany(kinds)| kinds.contains(&decision.kind))
            && self.session.as_deref().is_none_or(is_in)
            && self.by.as_deref().is_none_or(|name| is_by(view, decision, name))
            && self.from.is_none_or(|from| decision.at >= from)
            && self.to.is_none_or(|to| decision.at < to)
            && self.reasons.as_ref().is_none_or(|wanted| wanted.have(decision.reason))
    }
}
