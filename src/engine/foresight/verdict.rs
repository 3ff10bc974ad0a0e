//! The explanation of a slot, and its plain-language form.

use std::fmt::Write as _;

use crate::domain::{Actor, Downtime, Moment, Reason, RunId, RunState, ScheduleId, Span, names};

names! {
    /// What became of a slot, or will.
    Verdict {
        /// It was delivered.
        Delivered = "delivered",
        /// It was left in the inbox of a session in which nobody listens.
        Left = "left",
        /// It was handed to its host, and the receipt or the end of the turn is outstanding.
        Running = "running",
        /// It was claimed, and its run waits.
        Waiting = "waiting",
        /// It passed without a run of its own.
        Skipped = "skipped",
        /// It was cancelled, or replaced by other slots.
        Cancelled = "cancelled",
        /// Its run ended in an error.
        Failed = "failed",
        /// It will be handed over when it is due.
        WillFire = "will-fire",
        /// It will be claimed, and its run will wait.
        WillWait = "will-wait",
        /// It will be claimed, and its message will be left in an inbox.
        WillBeLeft = "will-be-left",
        /// It will be claimed, and its run will fail.
        WillFail = "will-fail",
        /// It will be claimed, and the guard will refuse its run.
        WillBeRefused = "will-be-refused",
        /// It will be claimed, and its run will wait until an operator approves it.
        WillNeedApproval = "will-need-approval",
        /// It will be skipped.
        WillBeSkipped = "will-be-skipped",
        /// Its schedule is paused.
        Paused = "paused",
        /// Everything is held.
        Held = "held",
        /// The schedule has no slot there.
        NotASlot = "not-a-slot",
        /// The schedule did not exist yet.
        BeforeCreation = "before-creation",
        /// The schedule has no more slots by then.
        AfterEnd = "after-end",
        /// Its schedule was volatile, and was lost with an earlier process.
        Lost = "lost",
        /// No such schedule is known.
        UnknownSchedule = "unknown-schedule",
        /// There was a slot, and its outcome is no longer on record.
        BeyondHistory = "beyond-history",
        /// There are too many slots before it to foresee what becomes of it.
        NotForeseen = "not-foreseen",
    }
}

/// Why something happened at an instant, or did not, or when it will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The schedule in question.
    pub(crate) schedule: ScheduleId,
    /// The instant in question.
    pub(crate) asked: Moment,
    /// What became of the slot there, or why there is none.
    pub verdict: Verdict,
    /// Why, unless it went as planned.
    pub reason: Option<Reason>,
    /// The slot that is explained: at the instant or near it; without one there, the nearest on
    /// record.
    pub slot: Option<Moment>,
    /// The run of the slot, if it got one. For a folded slot, the run that it was folded into.
    pub(crate) run: Option<RunId>,
    /// The actor who caused it, if there was one.
    pub(crate) by: Option<Actor>,
    /// When it happened, or for a future slot when it will.
    pub(crate) at: Option<Moment>,
    /// The time from the slot to the hand-over, or until now if there was none.
    pub(crate) late: Option<Span>,
    /// What delayed the slot, oldest first.
    pub(crate) obstacles: Vec<Obstacle>,
    /// The time in which the process was down when the slot came.
    pub down: Option<Downtime>,
    /// How many slots its run stands for; 0 if it has no run.
    pub(crate) slots: u64,
    /// The next slot.
    pub(crate) next: Option<Moment>,
    /// The reason that the actor gave for a pause or a hold, the rule that holds it, an error message, or the approval.
    pub(crate) detail: Option<String>,
    /// How it stands with telling what its call came to; `None` if it is no call, or nobody is told.
    pub(crate) told: Option<ToldOf>,
}

/// Something that delayed a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// When it began.
    pub(crate) at: Moment,
    /// When it ended, if it was a hold or a pause that is over.
    pub(crate) until: Option<Moment>,
    /// What it was.
    pub(crate) reason: Reason,
    /// More about it, if known.
    pub(crate) detail: Option<String>,
}

/// How it stands with telling what a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToldOf {
    /// The channel that is told; `None` for the session.
    pub(super) channel: Option<Box<str>>,
    /// How the bulletin stands.
    pub(super) state: RunState,
    /// When it ended; `None` while it goes on.
    pub(super) at: Option<Moment>,
    /// Why it waits, or did not arrive.
    pub(super) reason: Option<Reason>,
}

impl ToldOf {
    /// Returns the sentence about it.
    fn sentence(&self) -> String {
        let whom = self.channel.as_ref().map_or("the session".to_owned(), |name| format!("channel {name}"));
        let at = self.at.map(|at| format!(" at {}", at.brief())).unwrap_or_default();
        let why = self.reason.map(|reason| format!(": {}", reason.name())).unwrap_or_default();
        match self.state {
            RunState::Delivered => format!("What it came to was told to {whom}{at}."),
            RunState::Queued => format!("What it came to waits to be told to {whom}{why}."),
            RunState::InFlight | RunState::Running => {
                format!("What it came to is on its way to {whom}.")
            }
            RunState::Left => format!("What it came to was left in the inbox{at}."),
            RunState::Cancelled | RunState::Failed => format!("What it came to could not be told{why}."),
        }
    }
}

impl Explanation {
    /// Returns the explanation in one or two sentences.
    pub fn sentence(&self) -> String {
        let mut text = self.lead();
        // What a run does that waits is no word about a slot that was skipped.
        let parts = if self.verdict == Verdict::Skipped { 1 } else { usize::MAX };
        let words = |reason: Reason| reason.doc().split_inclusive(';').take(parts).collect::<String>();
        let why = self.reason.map(|reason| clause(words(reason).trim_end_matches(';')));
        // These say it themselves.
        let is_said = matches!(self.verdict, Verdict::Held | Verdict::Paused) || self.is_unstored();
        if let Some(why) = why.as_ref().filter(|_| !is_said) {
            let _ = write!(text, ": {why}");
        }
        // A failure without words of its own repeats its reason.
        if let Some(detail) = self.detail.as_ref().filter(|detail| why.as_ref() != Some(&clause(detail))) {
            let _ = write!(text, " ({detail})");
        }
        match &self.by {
            // Who asked for the run did not leave it there.
            Some(by) if matches!(self.verdict, Verdict::Left | Verdict::Waiting | Verdict::Running) => {
                let _ = write!(text, "; {by} asked for it");
            }
            Some(by) => {
                let _ = write!(text, ", by {by}");
            }
            None => {}
        }
        text.push('.');
        if let Some(told) = &self.told {
            let _ = write!(text, " {}", told.sentence());
        }
        if let Some(Downtime { from, until }) = self.down {
            let _ = write!(
                text,
                " The process was down until {}; it is known to have been up at {}.",
                until.brief(),
                from.brief()
            );
        }
        if self.slots > 1 {
            let _ = write!(text, " One run stands for {} slots.", self.slots);
        }
        let mut seen = Vec::new();
        for obstacle in &self.obstacles {
            // A run that is retried meets the same obstacle many times; once is enough.
            let kind = (obstacle.reason, obstacle.until);
            if seen.contains(&kind) || obstacle.until.is_none() && Some(obstacle.reason) == self.reason {
                continue;
            }
            seen.push(kind);
            let stood = STANDSTILLS.iter().find(|(reason, _)| *reason == obstacle.reason);
            let at = obstacle.at.brief();
            let words = obstacle.detail.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
            let _ = match (stood, obstacle.until) {
                (Some((_, stood)), Some(until)) => {
                    write!(text, " {stood} from {at} to {}{words}.", until.brief())
                }
                (Some((Reason::Held, _)), None) if is_said => {
                    write!(text, " Everything is held as well, since {at}{words}.")
                }
                (Some((_, stood)), None) => write!(text, " {stood} from {at} on{words}."),
                (None, _) => write!(text, " Delayed from {at}: {}.", clause(obstacle.reason.doc())),
            };
        }
        if let Some(next) = self.next.filter(|next| Some(*next) != self.slot) {
            let _ = write!(text, " The next slot is {}.", next.brief());
        }
        text
    }

    /// Whether its slot gets no run for now because the store cannot be written.
    fn is_unstored(&self) -> bool {
        self.verdict == Verdict::WillWait && self.reason == Some(Reason::StoreUnavailable)
    }

    fn lead(&self) -> String {
        let slot =
            self.slot.map_or_else(|| "the slot".to_owned(), |slot| format!("the slot of {}", slot.brief()));
        let at = self.at.map(|at| format!(" at {}", at.brief())).unwrap_or_default();
        let late = self.late.filter(|late| late.millis() > 0).map(|late| format!(", {} late", length(late)));
        let late = late.unwrap_or_default();
        let asked = self.asked.brief();
        let lead = match self.verdict {
            Verdict::Delivered => format!("{slot} was delivered{at}{late}"),
            Verdict::Left => format!("{slot} was left in the inbox{at}{late}"),
            Verdict::Running => format!("{slot} was handed to its host{at}{late}, and has not ended"),
            Verdict::Waiting => format!("{slot} has come and its run waits{late}"),
            Verdict::Skipped => format!("{slot} was skipped{at}"),
            Verdict::Cancelled => format!("{slot} was called off{at}"),
            Verdict::Failed => format!("{slot} failed{at}"),
            Verdict::WillFire => format!("{slot} will fire{at}"),
            Verdict::WillWait if self.is_unstored() => {
                format!("{slot} gets no run as long as the store cannot be written{late}")
            }
            Verdict::WillWait => format!("{slot} will come{at}, and its run will wait"),
            Verdict::WillBeLeft => format!("{slot} will come{at}, and its message will be left in the inbox"),
            Verdict::WillFail => format!("{slot} will come{at}, and its run will fail"),
            Verdict::WillBeRefused => format!("{slot} will come{at}, and its run will be refused"),
            Verdict::WillNeedApproval => {
                format!("{slot} will come{at}, and its run will wait until an operator approves it")
            }
            Verdict::WillBeSkipped => format!("{slot} will be skipped{at}"),
            Verdict::Paused => format!("{slot} gets no run as long as the schedule is paused"),
            Verdict::Held => format!("{slot} gets no run as long as everything is held"),
            Verdict::NotASlot => {
                let near = self
                    .slot
                    .map(|slot| format!("; the nearest known is {}", slot.brief()))
                    .unwrap_or_default();
                format!("the schedule has no slot at {asked}{near}")
            }
            Verdict::BeforeCreation => format!("the schedule did not exist at {asked}{at}"),
            Verdict::AfterEnd => format!("the schedule has no slot at {asked}, because it has ended by then"),
            Verdict::Lost => format!("{slot} was lost; the restart was{at}"),
            Verdict::UnknownSchedule => format!("nothing is known of a schedule {}", self.schedule),
            Verdict::BeyondHistory => format!("what became of {slot} is no longer on record"),
            Verdict::NotForeseen => format!("what will become of {slot} is not foreseen"),
        };
        // Most variants begin with "the": capitalized once, here.
        let mut letters = lead.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }
}

/// Turns a sentence into a clause of another one: no period, and a small first letter.
fn clause(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Formats a duration for people, with at most two units.
pub(crate) fn length(span: Span) -> String {
    let millis = span.millis();
    let (seconds, minutes, hours) = (millis / 1_000, millis / 60_000, millis / 3_600_000);
    match (hours, minutes, seconds) {
        (0, 0, 0) => format!("{millis} ms"),
        (0, 0, _) => format!("{seconds}.{:03} s", millis % 1_000),
        (0, _, _) => format!("{minutes} min {} s", seconds % 60),
        (1..48, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// What stands still as long as such a reason lasts, in the words of an explanation.
const STANDSTILLS: [(Reason, &str); 3] = [
    (Reason::Held, "Everything was held"),
    (Reason::Paused, "The schedule was paused"),
    (Reason::StoreUnavailable, "The store could not be written"),
];
