//! One caller that asks for durable work, and remembers what it was told: what a kill leaves unanswered it asks again.

use std::path::Path;

use reveille::edn::{Map, Value};
use reveille_checker::{Event, Lifetime, Missed, Moment, Overlap, Policy, Recovery, Span, Trigger};

use crate::harness::ask::{instant, later, only};
use crate::harness::daemon::{at, text, wall};
use crate::harness::stream::Stream;

/// A small generator of numbers: the same seed, the same wishes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What was asked for.
pub(crate) struct Wish {
    pub(crate) session: String,
    /// The creation, word for word: a repeat says the same.
    create: String,
    trigger: Trigger,
    pub(crate) policy: Policy,
    lifetime: Lifetime,
    /// Known once the creation was acknowledged.
    pub(crate) id: Option<String>,
    /// By the last acknowledged change.
    pub(crate) fire_at: Option<Moment>,
    pub(crate) revision: i64,
    /// It was given another time when its own had come: a run of that may be with its session.
    pub(crate) may_be_out: bool,
    pub(crate) is_cancelled: bool,
}

/// What was asked and not answered yet.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Create(usize),
    Cancel(usize),
    Change(usize, Moment),
}

/// How often what was acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub(crate) created: u64,
    pub(crate) cancelled: u64,
    pub(crate) changed: u64,
    pub(crate) refused: u64,
    /// Creations that the kill had left unanswered, and that turned out to be kept.
    pub(crate) found_again: u64,
}

pub(crate) struct Caller {
    name: String,
    dice: Dice,
    sessions: Vec<String>,
    pub(crate) wishes: Vec<Wish>,
    unanswered: Option<Asked>,
    pub(crate) events: Vec<Event>,
    pub(crate) told: Told,
}

impl Caller {
    pub(crate) fn new(name: String, seed: u64, sessions: &[String]) -> Caller {
        Caller {
            name,
            dice: Dice::new(seed),
            sessions: sessions.to_owned(),
            wishes: Vec::new(),
            unanswered: None,
            events: Vec::new(),
            told: Told::default(),
        }
    }

    /// Asks until the daemon is gone, or until it has asked for enough in this life; stays until it is gone.
    pub(crate) fn work(&mut self, socket: &Path) -> Option<()> {
        let mut stream = Stream::connect(socket)?;
        self.settle_on(&mut stream)?;
        for _ in 0..ASKS_PER_LIFE {
            let asked = self.wish();
            self.unanswered = Some(asked);
            self.perform(&mut stream, asked, false)?;
            self.unanswered = None;
        }
        loop {
            stream.next()?;
        }
    }

    /// Asks again what was not answered; what was asked before is known then.
    pub(crate) fn settle(&mut self, socket: &Path) {
        let stream = Stream::connect(socket);
        let settled = stream.and_then(|mut stream| self.settle_on(&mut stream));
        settled.expect("nobody kills the last life");
    }

    fn settle_on(&mut self, stream: &mut Stream) -> Option<()> {
        if let Some(asked) = self.unanswered {
            self.perform(stream, asked, true)?;
            self.unanswered = None;
        }
        Some(())
    }

    fn wish(&mut self) -> Asked {
        let known = self.wishes.len();
        let dice = self.dice.below(10);
        // Among the last ones, which have not fired yet.
        let recent = |caller: &mut Caller| {
            let back = usize::try_from(caller.dice.below(12)).expect("it fits") + 1;
            let place = known.checked_sub(back)?;
            let wish = &caller.wishes[place];
            (wish.id.is_some() && !wish.is_cancelled).then_some(place)
        };
        if dice < 2
            && let Some(place) = recent(self)
        {
            return Asked::Cancel(place);
        }
        if dice == 2
            && let Some(place) = recent(self).filter(|place| is_once(&self.wishes[*place].trigger))
        {
            let ahead = self.dice.below(900) + 20;
            return Asked::Change(place, later(wall(), ahead));
        }
        let wish = self.new_wish();
        self.wishes.push(wish);
        Asked::Create(known)
    }

    fn new_wish(&mut self) -> Wish {
        let place = usize::try_from(self.dice.below(self.sessions.len() as u64)).expect("it fits");
        let session = self.sessions[place].clone();
        let missed = [Missed::RunOnce, Missed::Skip, Missed::All][self.pick(3)];
        let recovery = [Recovery::Redeliver, Recovery::Fail][self.pick(2)];
        // A run that is out when its process dies is not over, and nobody outside can see that: no slot may depend on it.
        let policy = Policy { missed, recovery, overlap: Overlap::Parallel, ..Policy::default() };
        // Not so many runs: one that is lost with its process is one, and nobody outside can know of it.
        let expires_at = later(wall(), 1_500 + self.dice.below(3_000));
        let (when, trigger, expires_at) = match self.dice.below(10) {
            0 => {
                let period_ms = 1_000 + self.dice.below(500);
                let trigger = Trigger::Every { period_ms, anchor: None, from: Default::default() };
                (format!(":every-ms {period_ms}"), trigger, Some(expires_at))
            }
            1 => {
                let delay = self.dice.below(900) + 10;
                // Resolved against the creation's own instant, once that is known.
                let at = Moment::EPOCH.checked_add(Span::from_millis(delay)).expect("in range");
                (format!(":delay-ms {delay}"), Trigger::At { at }, None)
            }
            _ => {
                let at = later(wall(), self.dice.below(900) + 20);
                (format!(":at \"{at}\""), Trigger::At { at }, None)
            }
        };
        let missed = ["run-once", "skip", "all"][[Missed::RunOnce, Missed::Skip, Missed::All]
            .iter()
            .position(|known| *known == missed)
            .expect("one of them")];
        let recovery = if recovery == Recovery::Fail { "fail" } else { "redeliver" };
        let life = expires_at.map_or(String::new(), |end| format!(" :lifetime {{:expires-at \"{end}\"}}"));
        let key = format!("{}-{}", self.name, self.wishes.len());
        let create = format!(
            "{{:kind :message :message \"wake up\" :label {key:?} :idempotency-key {key:?} :session-id {session:?} \
             :durability :durable :policy {{:missed :{missed} :recovery :{recovery} :overlap :parallel}} {when}{life}}}"
        );
        let lifetime = Lifetime { max_runs: None, expires_at };
        let (id, fire_at, revision, may_be_out, is_cancelled) = (None, None, 1, false, false);
        Wish { session, create, trigger, policy, lifetime, id, fire_at, revision, may_be_out, is_cancelled }
    }

    fn pick(&mut self, of: u64) -> usize {
        usize::try_from(self.dice.below(of)).expect("it fits")
    }

    /// `None`: no answer came.
    fn perform(&mut self, stream: &mut Stream, asked: Asked, again: bool) -> Option<()> {
        match asked {
            Asked::Create(place) => self.create(stream, place, again),
            Asked::Cancel(place) => self.cancel(stream, place),
            Asked::Change(place, at) => self.change(stream, (place, at), again),
        }
    }

    fn create(&mut self, stream: &mut Stream, place: usize, again: bool) -> Option<()> {
        let wish = &mut self.wishes[place];
        let query = format!(
            "[{{(psi.scheduler/create {}) [:psi.scheduler/schedule-id :psi.scheduler/created? \
             :psi.scheduler/created-at :psi.scheduler/trigger]}}]",
            wish.create
        );
        let Ok(made) = stream.eql(&query)? else {
            // Only a creation that nobody has seen yet may have come too late to be made.
            let answer = said(stream.eql(&query)?.expect_err("refused is refused"));
            let is_late = answer.contains("has passed") || answer.contains("no slot would ever come");
            assert!(is_late, "{query}: {answer}");
            self.told.refused += 1;
            return Some(());
        };
        let made = only(&made);
        let id = text(made, &["psi.scheduler/schedule-id"]).expect("an id").to_owned();
        let is_new = at(made, &["psi.scheduler/created?"]).and_then(Value::as_bool).expect("a boolean");
        assert!(is_new || again, "{query}: nobody asked for this before: {made:?}");
        let created = instant(at(made, &["psi.scheduler/created-at"]));
        match &mut wish.trigger {
            Trigger::At { at } if at.seconds() < 1_000_000 => {
                *at = created.checked_add(at.since(Moment::EPOCH)).expect("in range");
            }
            Trigger::Every { anchor, .. } => {
                let given = text(made, &["psi.scheduler/trigger", "anchor"]).expect("an anchor");
                *anchor = Some(Moment::parse(given).expect("an instant"));
            }
            Trigger::At { .. } | Trigger::Calendar { .. } | Trigger::Cron { .. } => {}
        }
        if let Trigger::At { at } = wish.trigger {
            wish.fire_at = Some(at);
        }
        wish.id = Some(id.clone());
        self.events.push(Event::Create {
            at: created,
            schedule: id,
            session: Some(wish.session.clone()),
            trigger: wish.trigger.clone(),
            policy: wish.policy.clone(),
            lifetime: wish.lifetime.clone(),
        });
        self.told.created += 1;
        self.told.found_again += u64::from(!is_new);
        Some(())
    }

    fn cancel(&mut self, stream: &mut Stream, place: usize) -> Option<()> {
        let id = self.wishes[place].id.clone().expect("only known ones");
        let query = format!("[(psi.scheduler/cancel {{:schedule-id {id:?}}})]");
        let outcome = stream.eql(&query)?;
        // One that is refused may have been cancelled by the one that was not answered.
        let is_cancelled = outcome.is_ok() || self.look(stream, &id)?.0 == "cancelled";
        if is_cancelled {
            // A run that is out already may still arrive, of a recurring one and of one that was given another time when its own
            // had come; the log says whether it was.
            let wish = &self.wishes[place];
            let grace = if is_once(&wish.trigger) && !wish.may_be_out { 0 } else { 200 };
            self.events.push(Event::Cancel { at: later(wall(), grace), schedule: id });
            self.wishes[place].is_cancelled = true;
            self.told.cancelled += 1;
        } else {
            self.told.refused += 1;
        }
        Some(())
    }

    fn change(&mut self, stream: &mut Stream, (place, to): (usize, Moment), again: bool) -> Option<()> {
        let id = self.wishes[place].id.clone().expect("only known ones");
        let revision = self.wishes[place].revision;
        if !again {
            let query = format!(
                "[(psi.scheduler/reschedule {{:schedule-id {id:?} :base-revision {revision} :at \"{to}\"}})]"
            );
            let outcome = stream.eql(&query)?;
            if outcome.is_err() {
                self.told.refused += 1;
                return Some(());
            }
        }
        let (_, now, fire_at, updated) = self.look(stream, &id)?;
        if now == revision {
            assert!(again, "{id}: the change was acknowledged and is not there");
            return Some(());
        }
        assert_eq!((now, fire_at), (revision + 1, to), "{id}: what was acknowledged is what is kept");
        let wish = &mut self.wishes[place];
        let at = updated.expect("it was changed");
        wish.may_be_out |= wish.fire_at.is_none_or(|due| due <= at);
        (wish.revision, wish.fire_at) = (now, Some(to));
        let trigger = Some(Trigger::At { at: to });
        self.events.push(Event::Change { at, schedule: id, trigger, policy: None, lifetime: None });
        self.told.changed += 1;
        Some(())
    }

    /// Status, revision, slot and last change of a schedule.
    fn look(&self, stream: &mut Stream, id: &str) -> Option<(String, i64, Moment, Option<Moment>)> {
        let query = format!(
            "[{{[:psi.scheduler/schedule-id {id:?}] [:psi.scheduler/status :psi.scheduler/revision \
             :psi.scheduler/fire-at :psi.scheduler/updated-at]}}]"
        );
        let found =
            stream.eql(&query)?.unwrap_or_else(|answer| panic!("{id} is acknowledged: {}", said(answer)));
        let found = only(&found);
        let status = at(found, &["psi.scheduler/status"]).and_then(Value::as_keyword).expect("a status");
        let revision = at(found, &["psi.scheduler/revision"]).and_then(Value::as_int).expect("a number");
        let updated = at(found, &["psi.scheduler/updated-at"]).filter(|updated| !updated.is_nil());
        let fire_at = instant(at(found, &["psi.scheduler/fire-at"]));
        Some((status.as_str().to_owned(), revision, fire_at, updated.map(|updated| instant(Some(updated)))))
    }
}

fn is_once(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::At { .. })
}

fn said(answer: Map) -> String {
    Value::from(answer).to_string()
}

/// On a quick machine more would come due than lives of some milliseconds can deliver.
const ASKS_PER_LIFE: u64 = 14;
