//! Ids, each with a type of its own, so that one cannot be passed for another.
//!
//! Invariant: an id is never blank, holds no control character and is at most `limits::ID_BYTES` long.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::domain::{Durability, Entropy, Moment};
use crate::limits;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing but white space.
    #[error("an id must not be blank")]
    Blank,
    /// Longer than `limits::ID_BYTES`.
    #[error("an id must not be longer than {} bytes", limits::ID_BYTES.value)]
    TooLong,
    /// Line breaks and other control characters would break logs and terminals.
    #[error("an id must not contain control characters")]
    Control,
}

/// A session's id: chosen by the caller that opens it, or a random UUID.
///
/// Copies share one text: 50 schedules of a session point at the same bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

/// The id of a job in a session, such as a background build: chosen by the program that runs it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Box<str>);

/// A schedule's id: `sch-` and a random UUID, or any text the caller chose.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ScheduleId(IdText);

/// The text of an id. The common form takes 16 bytes instead of 40. A text in that form is always
/// stored as `Random`, so that derived equality is exact.
#[derive(Clone, PartialEq, Eq, Hash)]
enum IdText {
    Random([u8; 16]),
    Chosen(Arc<str>),
}

/// A run's id: a function of schedule, incarnation and slot, so that every restart and replay agrees on it.
///
/// It is the idempotency key of the delivery. Its text is `SCHEDULE~INCARNATION~SLOT`; [`RunId::brief`] is a shorter one, for
/// readers. [`RunId::parse`] takes both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId {
    /// The schedule that the run belongs to.
    pub schedule: ScheduleId,
    /// Which trigger of the schedule the slot belongs to: 1 for the first, one more for each
    /// replacement.
    pub incarnation: u32,
    /// The nominal instant of the slot.
    pub slot: Moment,
}

/// A connected host. 0 is the built-in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(u32);

impl SessionId {
    /// Checks a text chosen by a caller.
    ///
    /// # Errors
    /// [`IdError`] if it is blank, too long or holds control characters.
    pub fn new(text: &str) -> Result<SessionId, IdError> {
        check(text)?;
        Ok(SessionId(text.into()))
    }

    /// Returns the id that no session can have: it is not one that [`SessionId::new`] takes.
    pub(crate) fn of_nobody() -> SessionId {
        SessionId(NOBODY.into())
    }

    /// Returns whether it is the id that no session can have.
    pub(crate) fn is_nobodys(&self) -> bool {
        &*self.0 == NOBODY
    }

    /// Makes a random id.
    pub fn random(entropy: Entropy) -> SessionId {
        SessionId(uuid(entropy).hyphenated().to_string().into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl JobId {
    /// Checks a text chosen by a caller.
    ///
    /// # Errors
    /// [`IdError`] if it is blank, too long or holds control characters.
    pub fn new(text: &str) -> Result<JobId, IdError> {
        check(text)?;
        Ok(JobId(text.into()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ScheduleId {
    /// The prefix of ids that the engine makes. Source: SEED-002.
    pub const PREFIX: &str = "sch-";

    /// Checks a text chosen by a caller.
    ///
    /// # Errors
    /// [`IdError`] if it is blank, too long or holds control characters.
    pub fn new(text: &str) -> Result<ScheduleId, IdError> {
        check(text)?;
        let random = text.strip_prefix(ScheduleId::PREFIX).and_then(|tail| {
            let uuid = Uuid::try_parse(tail).ok()?;
            // Only lower case with hyphens is the common form: any other spelling must print back
            // as it was given.
            (uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == tail).then_some(uuid)
        });
        Ok(ScheduleId(match random {
            Some(uuid) => IdText::Random(uuid.into_bytes()),
            None => IdText::Chosen(text.into()),
        }))
    }

    /// Makes a random id.
    pub fn random(entropy: Entropy) -> ScheduleId {
        ScheduleId(IdText::Random(uuid(entropy).into_bytes()))
    }

    /// Makes a fresh id: a random one for a volatile schedule. The id of a durable schedule begins
    /// with the time, so that schedules created together are stored together. `now` is called for
    /// durable schedules only.
    pub fn fresh(durability: Durability, now: impl FnOnce() -> Moment, entropy: Entropy) -> ScheduleId {
        match durability {
            Durability::Volatile => ScheduleId::random(entropy),
            Durability::Durable | Durability::Bound => {
                ScheduleId(IdText::Random(uuid_in_order(now(), entropy).into_bytes()))
            }
        }
    }
}

impl ScheduleId {
    /// The id within a short run's id; `None` for a chosen text that could be taken for one.
    fn brief(&self) -> Option<String> {
        match &self.0 {
            IdText::Random(bytes) => {
                Some(format!("{BRIEF_PREFIX}{:0>25}", base_36(u128::from_be_bytes(*bytes))))
            }
            IdText::Chosen(text) => (!text.starts_with(BRIEF_PREFIX)).then(|| text.to_string()),
        }
    }

    fn parse_brief(text: &str) -> Option<ScheduleId> {
        match text.strip_prefix(BRIEF_PREFIX) {
            Some(digits) => {
                Some(ScheduleId(IdText::Random(u128::from_str_radix(digits, 36).ok()?.to_be_bytes())))
            }
            None => ScheduleId::new(text).ok(),
        }
    }
}

impl Ord for ScheduleId {
    /// The order of the texts, so that it is the one a reader sees.
    fn cmp(&self, other: &ScheduleId) -> std::cmp::Ordering {
        match (&self.0, &other.0) {
            // Texts of random ids have one length and one prefix, so they sort like their bytes.
            (IdText::Random(one), IdText::Random(two)) => one.cmp(two),
            (IdText::Chosen(one), IdText::Chosen(two)) => one.cmp(two),
            // A chosen id may begin with the prefix of random ones, so only whole texts give a total order.
            _ => self.to_string().cmp(&other.to_string()),
        }
    }
}

impl PartialOrd for ScheduleId {
    fn partial_cmp(&self, other: &ScheduleId) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl RunId {
    /// Parses the text of a run's id, in either form.
    pub fn parse(text: &str) -> Option<RunId> {
        // From the right: a schedule's id may hold a `~` itself, an instant and a number cannot.
        let (rest, slot) = text.rsplit_once('~')?;
        let (schedule, incarnation) = rest.rsplit_once('~')?;
        let incarnation = incarnation.parse().ok()?;
        let long = |slot| Some(RunId { schedule: ScheduleId::new(schedule).ok()?, incarnation, slot });
        // An instant has hyphens and the digits of the short form have none, so no text is both.
        let id = match Moment::parse(slot) {
            Ok(slot) => long(slot)?,
            Err(_) => RunId {
                schedule: ScheduleId::parse_brief(schedule)?,
                incarnation,
                slot: parse_brief_slot(slot)?,
            },
        };
        // Only the texts that we print are ids: no leading zeros, no other spelling of the instant.
        (id.to_string() == text || id.brief() == text).then_some(id)
    }

    /// The short form of the id in `text`; a text that is no run's id stays as it is.
    pub(crate) fn brief_of(text: &str) -> String {
        RunId::parse(text).map_or_else(|| text.to_owned(), |id| id.brief())
    }

    /// Prints the id in half as many characters, for models and people who have to quote it. [`RunId::parse`] reads it back,
    /// without a look at what exists, so no two runs have one text.
    pub fn brief(&self) -> String {
        let slot = brief_slot(self.slot);
        let brief = slot.zip(self.schedule.brief());
        brief.map_or_else(
            || self.to_string(),
            |(slot, schedule)| format!("{schedule}~{}~{slot}", self.incarnation),
        )
    }
}

impl HostId {
    /// The built-in host, with somebody who listens: the embedding program, or a person who reads along.
    pub const LOCAL: HostId = HostId(0);

    /// The built-in host of sessions in which nobody listens. What it gets is left in their inboxes. The number is never that of
    /// a connected host. A session of this program has it or [`HostId::LOCAL`], by whether somebody listens, and one object
    /// serves both; only the receipt tells them apart (`engine::step::run::accepted`).
    pub const INBOX: HostId = HostId(u32::MAX - 1);

    /// The host of agents' own conversations, which are reached through processes of ours. It is connected, and gives a session
    /// to a harness that asks for it while nothing is under way.
    pub const AGENTS: HostId = HostId(u32::MAX - 2);

    /// Makes the host id with this number; 0 is the built-in host.
    pub const fn new(number: u32) -> HostId {
        HostId(number)
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns whether the host is connected and reports its turns, unlike the built-in one.
    pub(crate) const fn is_attached(self) -> bool {
        self.0 != HostId::LOCAL.0 && self.0 != HostId::INBOX.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            IdText::Random(bytes) => {
                // Put together as one text: lists hold many ids, and each formatting step costs as
                // much as all of this.
                let (digits, mut text) = (hexadecimal(bytes), *b"sch-00000000-0000-0000-0000-000000000000");
                for (at, from, len) in [(4, 0, 8), (13, 8, 4), (18, 12, 4), (23, 16, 4), (28, 20, 12)] {
                    text[at..at + len].copy_from_slice(&digits[from..from + len]);
                }
                f.write_str(std::str::from_utf8(&text).unwrap_or_default())
            }
            IdText::Chosen(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}~{}", self.schedule, self.incarnation, self.slot)
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            HostId::AGENTS => f.write_str("agents"),
            host if host.is_attached() => write!(f, "host-{}", host.0),
            HostId(_) => f.write_str("built-in"),
        }
    }
}

/// A slot within a short run's id: its seconds and, behind a dot, its nanoseconds if there are any. `None` before 1970.
fn brief_slot(slot: Moment) -> Option<String> {
    let seconds = base_36(u128::from(u64::try_from(slot.seconds()).ok()?));
    Some(match slot.nanos() {
        0 => seconds,
        nanos => format!("{seconds}.{}", base_36(u128::from(nanos))),
    })
}

fn parse_brief_slot(text: &str) -> Option<Moment> {
    let (seconds, nanos) = text.split_once('.').unwrap_or((text, "0"));
    Moment::new(i64::from_str_radix(seconds, 36).ok()?, u32::from_str_radix(nanos, 36).ok()?)
}

fn base_36(mut number: u128) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit(u32::try_from(number % 36).unwrap_or(0), 36).unwrap_or('0'));
        number /= 36;
    }
    digits.iter().rev().collect()
}

/// How the id of a schedule begins within a short run's id, if the engine made it.
const BRIEF_PREFIX: &str = "sch.";

/// Prints two digits per byte. There is no branch and no table, so that the compiler can vectorize
/// it.
fn hexadecimal(bytes: &[u8; 16]) -> [u8; 32] {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    let mut digits = [0; 32];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    digits
}

fn uuid(entropy: Entropy) -> Uuid {
    uuid::Builder::from_random_bytes(entropy.0).into_uuid()
}

/// Makes a UUID that sorts by the millisecond of its creation (version 7 of RFC 9562).
pub(crate) fn uuid_in_order(now: Moment, entropy: Entropy) -> Uuid {
    let millis = now.millis_since(Moment::EPOCH);
    // 48 bits of time take the place of the first six random bytes.
    let (_, random) = entropy.0.split_at(6);
    let random: [u8; 10] = random.try_into().unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

pub(in crate::domain) fn check(text: &str) -> Result<(), IdError> {
    // Fast path: nearly all ids are plain ASCII, and then nothing in them is blank or a control
    // character.
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || !is_plain && text.trim().is_empty() {
        return Err(IdError::Blank);
    }
    if text.len() as u64 > limits::ID_BYTES.value {
        return Err(IdError::TooLong);
    }
    if !is_plain && text.chars().any(char::is_control) {
        return Err(IdError::Control);
    }
    Ok(())
}

/// No id has a control character.
const NOBODY: &str = "\u{0}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_as_printed() {
        let random = ScheduleId::random(Entropy([7; 16]));
        assert_eq!(random.to_string(), "sch-07070707-0707-4707-8707-070707070707");
        assert_eq!(ScheduleId::new(&random.to_string()), Ok(random.clone()));
        // Not the printed form, hence another id.
        let upper = ScheduleId::new("sch-07070707-0707-4707-8707-0707070707AA").unwrap();
        assert_eq!(upper.to_string(), "sch-07070707-0707-4707-8707-0707070707AA");
        let run = RunId { schedule: random, incarnation: 1, slot: Moment::EPOCH };
        assert_eq!(RunId::parse(&run.to_string()), Some(run));
        assert_eq!(RunId::parse("a~01~1970-01-01T00:00:00Z"), None);
        assert_eq!(RunId::parse("a~1~1970-01-01T00:00:00.0Z"), None);
    }

    #[test]
    fn the_short_form_of_a_runs_id_reads_back() {
        #[track_caller]
        fn check(schedule: &str, slot: &str, expected: &str) {
            let schedule = ScheduleId::new(schedule).unwrap();
            let run = RunId { schedule, incarnation: 2, slot: Moment::parse(slot).unwrap() };
            assert_eq!(run.brief(), expected);
            assert_eq!(RunId::parse(expected), Some(run.clone()));
            assert_eq!(RunId::parse(&run.to_string()), Some(run));
        }
        let random = "sch-07070707-0707-4707-8707-070707070707";
        check(random, "2026-11-23T02:00:00Z", "sch.0ez6uz7hcc3f4zsfmcc2wgoav~2~toxmw0");
        check(random, "2026-11-23T02:00:00.397887993Z", "sch.0ez6uz7hcc3f4zsfmcc2wgoav~2~toxmw0.6kw4c9");
        check("a~1", "1970-01-01T00:00:00Z", "a~1~2~0");
        // Nothing short: the text could be that of another schedule, or the slot lies before 1970.
        let lure = "sch.0ez6uz7hcc3f4zsfmcc2wgoav";
        check(lure, "1970-01-01T00:00:00Z", &format!("{lure}~2~1970-01-01T00:00:00Z"));
        check("a", "1969-12-31T23:59:59Z", "a~2~1969-12-31T23:59:59Z");
        for no_id in
            ["a~2~00", "a~2~Z", "a~2~-1", "a~2~+1", "a~02~1", "sch.ez6uz7hcc3f4zsfmcc2wgoav~2~0", "a~2~1.0"]
        {
            assert_eq!(RunId::parse(no_id), None, "{no_id}");
        }
    }

    #[test]
    fn ids_are_checked() {
        assert_eq!(SessionId::new(" "), Err(IdError::Blank));
        assert_eq!(SessionId::new("a\nb"), Err(IdError::Control));
        assert_eq!(SessionId::new(&"a".repeat(129)), Err(IdError::TooLong));
        assert!(SessionId::new(&"a".repeat(128)).is_ok());
    }
}
