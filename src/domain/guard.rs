//! The guard's vocabulary: its policy and rules, grants, its answers, and what a run remembers of
//! them.
//!
//! What lives elsewhere: the evaluation, and when it happens (`engine/guard.rs`,
//! `engine/step/run/authorize.rs`).

use std::fmt;

use crate::limits;

use super::{
    BootTime, Dialect, Moment, PayloadKind, Reason, Right, SessionId, Span, TimeOfDay, Weekdays, Zone, names,
};

names! {
    /// What happens to a run that a rule matches, just before it is handed over.
    Ruling {
        /// It is handed over.
        Allow = "allow",
        /// It waits until an operator approves it.
        Hold = "hold",
        /// It fails.
        Refuse = "refuse",
    }
}

/// The policy by which every run is checked before it is handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardPolicy {
    /// The rules in order of precedence: the first that matches decides, and a run that no rule
    /// matches is allowed.
    pub rules: Vec<Rule>,
    /// How long a run waits for an operator's approval; `None` if there is no operator, so that it
    /// is denied at once.
    pub approval: Option<Span>,
    /// How long an external guard has to answer about a run that the rules allow; `None` if there
    /// is no external guard.
    pub asks: Option<Span>,
}

/// One rule of a guard policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name, as reasons and approvals show it.
    pub name: Box<str>,
    /// Which runs the rule matches; an empty list matches every run.
    pub of: RuleScope,
    /// What happens to a run that matches.
    pub then: Ruling,
    /// Why, in the words of the rule's author.
    pub why: Option<Box<str>>,
}

/// Which runs a rule matches: all conditions have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleScope {
    /// One of these sessions, or a fresh session that comes from one, owns the schedule, made it, edited it, or is its target. A
    /// rule that allows matches only if owner, maker and editor are all named.
    pub sessions: Vec<SessionId>,
    /// The schedule was created by a tool of one of these dialects.
    pub dialects: Vec<Dialect>,
    /// The payload is of one of these kinds.
    pub kinds: Vec<PayloadKind>,
    /// The fresh session may have one of these tools, or one of them is called; of those, a name may end with `*`. A rule that
    /// allows matches only if a fresh session has no other tools.
    pub tools: Vec<Box<str>>,
    /// The hand-over is within this time window.
    pub window: Option<TimeWindow>,
}

/// A time window that recurs on some days of the week. One that ends before it begins extends into
/// the next day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// The days on which the window begins.
    pub days: Weekdays,
    /// When the window begins.
    pub from: TimeOfDay,
    /// When the window ends, exclusive; equal to `from` for a whole day.
    pub until: TimeOfDay,
    /// The zone whose clock is read.
    pub zone: Zone,
}

/// What a session is allowed to do. A grant is never extended automatically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Read, or read and change; `None` for neither, which revokes the session's token.
    pub right: Option<Right>,
    /// The dialects whose tools the session may use; `None` for all.
    pub dialects: Option<Vec<Dialect>>,
    /// How deep a chain of turns begun by schedules may be for the session to create schedules in
    /// it; 0 for never in such a turn.
    pub depth: u32,
    /// Whether the session's own token may reach beyond the session: have its jobs delivered into other sessions, and
    /// change the shared jobs of others.
    pub cron_others: bool,
}

/// The default depth, in the type of a depth.
#[expect(clippy::cast_possible_truncation, reason = "some turns")]
const LINE_DEPTH: u32 = limits::LINE_DEPTH.value as u32;

impl Grant {
    /// The grant of a session that nobody has changed: everything within the session, and nothing beyond it.
    pub const FULL: Grant =
        Grant { right: Some(Right::Change), dialects: None, depth: LINE_DEPTH, cron_others: false };

    /// Returns what both grants allow.
    #[must_use]
    pub(crate) fn and(&self, other: &Grant) -> Grant {
        let both = |one: &Vec<Dialect>, two: &Vec<Dialect>| {
            one.iter().copied().filter(|dialect| two.contains(dialect)).collect()
        };
        let dialects = match (&self.dialects, &other.dialects) {
            (Some(one), Some(two)) => Some(both(one, two)),
            // `None` stands for all dialects, so the list of the other grant decides.
            (one, two) => one.clone().or_else(|| two.clone()),
        };
        let right = match (self.right, other.right) {
            // The lesser right of the two.
            (Some(Right::Change), right) | (right, Some(Right::Change)) => right,
            (Some(Right::Read), Some(Right::Read)) => Some(Right::Read),
            (None, _) | (_, None) => None,
        };
        let (depth, cron_others) = (self.depth.min(other.depth), self.cron_others && other.cron_others);
        Grant { right, dialects, depth, cron_others }
    }

    /// Returns whether the grant covers changes by tools of this dialect, and the runs of schedules
    /// made by them.
    pub fn covers(&self, dialect: Dialect) -> bool {
        let has = |dialects: &Vec<Dialect>| dialects.contains(&dialect);
        self.right == Some(Right::Change) && self.dialects.as_ref().is_none_or(has)
    }
}

/// A change of a grant: parts that are `None` stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantChange {
    /// The new right; the inner `None` for neither.
    pub right: Option<Option<Right>>,
    /// The new dialects; the inner `None` for all.
    pub dialects: Option<Option<Vec<Dialect>>>,
    /// The new depth.
    pub depth: Option<u32>,
    /// Whether the session's own token may reach beyond the session.
    pub cron_others: Option<bool>,
}

impl GrantChange {
    /// Returns the grant as it is after the change.
    pub(crate) fn applied_to(self, grant: &Grant) -> Grant {
        Grant {
            right: self.right.unwrap_or(grant.right),
            dialects: self.dialects.unwrap_or_else(|| grant.dialects.clone()),
            depth: self.depth.unwrap_or(grant.depth),
            cron_others: self.cron_others.unwrap_or(grant.cron_others),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.right.map_or("nothing", Right::name))?;
        if let Some(dialects) = &self.dialects {
            let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
            write!(f, " by {}", if names.is_empty() { "no tools".to_owned() } else { names.join(", ") })?;
        }
        if self.depth != Grant::FULL.depth {
            write!(f, ", {} deep", self.depth)?;
        }
        if self.cron_others { f.write_str(", jobs of others too") } else { Ok(()) }
    }
}

/// The answer of an external guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardAnswer {
    /// The run may be handed over.
    Allow,
    /// An operator has to approve the run first.
    Hold {
        /// Why, in the guard's words.
        why: Option<Box<str>>,
    },
    /// The run may not be handed over.
    Refuse {
        /// Why, in the guard's words.
        why: Option<Box<str>>,
    },
    /// The guard gave no usable answer: it crashed, could not be reached, or answered something
    /// else.
    Failed {
        /// What is known of the failure.
        detail: Box<str>,
    },
}

/// A SHA-256 of everything that a run is about: what is said, to whom, by which revision of its
/// schedule, and under which rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Parses 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Option<Digest> {
        let pair = |pair: &[u8]| {
            // Only the form that `Display` prints is accepted, so that a digest has one spelling.
            let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
            let text = std::str::from_utf8(pair).ok().filter(|_| pair.iter().all(is_digit))?;
            u8::from_str_radix(text, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        // The length is checked too: of 63 digits, the last chunk would be one digit that parses.
        Some(Digest(bytes?.try_into().ok()?)).filter(|_| text.len() == 64)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a run that has not ended remembers of the guard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// The answer or approval that the run waits for.
    pub waits: Option<Hold>,
    /// Digests that operators have approved, newest last.
    pub approved: Vec<Digest>,
    /// The digest that an external guard has allowed, and until when that is valid.
    pub allowed: Option<(Digest, BootTime)>,
}

/// Why a run is held, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Whose answer the run waits for.
    pub awaits: Awaits,
    /// The rule that requires it.
    pub rule: Box<str>,
    /// Why, in the words of the rule's author or of the guard.
    pub why: Option<Box<str>>,
    /// Digest of what the answer must be about.
    pub digest: Digest,
    /// When the wait ends, on the wall clock; without an answer by then, the run fails.
    pub until: Moment,
    /// When the wait ends, on the boot clock.
    pub due: BootTime,
}

impl Hold {
    /// Returns the name of the rule, and why it applies.
    pub fn detail(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}", self.rule),
            None => self.rule.to_string(),
        }
    }

    /// Returns the reason why the run waits.
    pub fn reason(&self) -> Reason {
        match self.awaits {
            Awaits::Guard => Reason::AwaitingGuard,
            Awaits::Operator => Reason::AwaitingApproval,
        }
    }
}

names! {
    /// Whose answer a run waits for.
    Awaits {
        /// The answer of an external guard.
        Guard = "guard",
        /// The approval of an operator.
        Operator = "operator",
    }
}
