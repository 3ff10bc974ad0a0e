//! Which checks of a watch are told.
//!
//! What lives elsewhere: the deciding (`engine/watching.rs`), and what a watch remembers for it (`watch.rs`).

use std::sync::Arc;

use crate::domain::{Condition, Span, ValuePath, names};
use crate::edn::{Map, Value};

names! {
    /// The strategy by which a watch tells. Source: SEED-001.
    NotifyWhen {
        /// The result is another one than was told last; the first check is silent.
        OnChange = "on-change",
        /// A check failed; and once, when the checks work again.
        OnError = "on-error",
        /// The condition holds.
        OnThreshold = "on-threshold",
        /// So many checks have been collected.
        Summary = "summary",
        /// Every check.
        Always = "always",
    }
}

names! {
    /// Which moments of a condition are told.
    Edge {
        /// Every check while it holds.
        Level = "level",
        /// When it begins to hold.
        Rising = "rising",
        /// When it ceases to hold.
        Falling = "falling",
        /// When it begins and when it ceases to hold.
        Both = "both",
    }
}

names! {
    /// What a check that failed does to a state that must last.
    Gaps {
        /// It neither counts nor breaks the count.
        Keep = "keep",
        /// The count begins anew.
        Reset = "reset",
    }
}

names! {
    /// What of a result is shown.
    Show {
        /// The result.
        Result = "result",
        /// What differs from what was shown last; the result if that is nothing.
        Diff = "diff",
        /// Both.
        Both = "both",
    }
}

/// How long a state must last before it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasting {
    /// For so many checks in a row.
    pub checks: u16,
    /// From the first check to the one that tells.
    pub span: Span,
}

/// Which checks of a watch are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The strategy.
    pub when: NotifyWhen,
    /// The condition of `on-threshold`.
    pub condition: Option<Arc<Condition>>,
    /// How many checks one summary has.
    pub batch: u16,
    /// Which moments of the condition are told.
    pub edge: Edge,
    /// How long a state must last.
    pub lasting: Lasting,
    /// What a check that failed does to a state that must last.
    pub gaps: Gaps,
    /// After something was told, nothing is told for so long.
    pub cooldown: Span,
    /// A state that goes on is told again after so long; without this, at each check that shows it.
    pub again: Option<Span>,
    /// It is told once when nothing was heard for so long: no change by `on-change`, no success by the others.
    pub silence: Option<Span>,
    /// The only paths of the result that are compared; empty for the whole result.
    pub only: Box<[ValuePath]>,
    /// Paths of the result that are not compared.
    pub ignore: Box<[ValuePath]>,
    /// A result that is among so many told last is not told.
    pub recall: u8,
    /// What is shown; `None` for the result, with what differs if that is short.
    pub show: Option<Show>,
    /// The longest wait after checks that failed in a row: it doubles up to there. `None` for a steady interval.
    pub backoff: Option<Span>,
    /// How much longer an interval may become by chance, in thousandths of it.
    pub jitter: u16,
}

impl Lasting {
    /// A state is told at once.
    pub const NONE: Lasting = Lasting { checks: 1, span: Span::ZERO };

    /// Whether a state is told at once.
    pub fn is_none(self) -> bool {
        self == Lasting::NONE
    }
}

impl Filter {
    /// How many checks a summary has if nobody says. Source: SEED-001.
    pub const BATCH: u16 = 10;

    /// The filter of a strategy as SEED-001 has it, without anything of ours.
    pub fn plain(when: NotifyWhen) -> Filter {
        Filter {
            when,
            condition: None,
            batch: Filter::BATCH,
            edge: Edge::Level,
            lasting: Lasting::NONE,
            gaps: Gaps::Keep,
            cooldown: Span::ZERO,
            again: None,
            silence: None,
            only: Box::default(),
            ignore: Box::default(),
            recall: 0,
            show: None,
            backoff: None,
            jitter: 0,
        }
    }

    /// Returns what differs from the strategy by itself, in the words of `notify_config`.
    pub fn config(&self) -> Map {
        let plain = Filter::plain(self.when);
        let mut map = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(name.into(), value);
            }
        };
        let span = |span: Span| Some(Value::from(length(span)));
        let paths = |paths: &[ValuePath]| {
            let texts: Vec<Value> = paths.iter().map(|path| path.to_string().into()).collect();
            (!texts.is_empty()).then(|| Value::vector(texts))
        };
        let word = |name: &'static str, is_plain: bool| (!is_plain).then(|| Value::from(name));
        let number = |number: u32, plain: u32| (number != plain).then(|| Value::from(number));
        put("expression", self.condition.as_ref().map(|condition| condition.as_str().into()));
        put("batch_size", number(self.batch.into(), Filter::BATCH.into()));
        put("for", span(self.lasting.span).filter(|_| self.lasting.span > Span::ZERO));
        put("for_checks", number(self.lasting.checks.into(), 1));
        put("gaps", word(self.gaps.name(), self.gaps == plain.gaps));
        put("cooldown", span(self.cooldown).filter(|_| self.cooldown > Span::ZERO));
        put("recall", number(self.recall.into(), 0));
        put("edge", word(self.edge.name(), self.edge == plain.edge));
        put("again", self.again.and_then(span));
        put("silence", self.silence.and_then(span));
        put("ignore", paths(&self.ignore));
        put("only", paths(&self.only));
        put("show", self.show.map(|show| show.name().into()));
        put("backoff_max", self.backoff.and_then(span));
        put("jitter", (self.jitter > 0).then(|| Value::Float(f64::from(self.jitter) / 1_000.0)));
        map
    }
}

/// A length of time as `notify_config` takes it.
fn length(span: Span) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let millis = span.millis();
    let fits = |(unit, _): &&(u64, &str)| millis.is_multiple_of(*unit) && millis > 0;
    units.iter().find(fits).map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", millis / unit))
}
