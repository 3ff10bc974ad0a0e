//! A condition on what a call came to: the tree, and the text that it was parsed from.
//!
//! What lives elsewhere: the grammar and the judging (`engine/condition`). Invariant: only the parser makes a [`Condition`], so
//! its size and depth are within the bounds of `limits`.

use std::fmt;

use crate::domain::names;
use crate::edn::Value;

/// A parsed condition, such as `result.status_code != 200`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    // Facts and answers have the text, from which the tree is parsed again.
    text: Box<str>,
    root: Clause,
}

/// One node of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// All of these hold.
    All(Box<[Clause]>),
    /// One of these holds.
    Any(Box<[Clause]>),
    /// This one does not hold.
    Not(Box<Clause>),
    /// Two values are compared.
    Compare(Box<Comparison>),
    /// The value at the path is another one than after the check before.
    Changed(ValuePath),
    /// The path leads to a value, be it null.
    Exists(ValuePath),
}

impl Clause {
    fn is_about_one_result(&self) -> bool {
        let is_result = |path: &ValuePath| path.root == PathRoot::Result;
        match self {
            Clause::All(clauses) | Clause::Any(clauses) => clauses.iter().all(Clause::is_about_one_result),
            Clause::Not(clause) => clause.is_about_one_result(),
            Clause::Compare(comparison) => {
                let left = match &comparison.left {
                    Measure::Value(path) | Measure::Length(path) => is_result(path),
                    // A delta needs the check before, and so does a change below.
                    Measure::Delta(_) => false,
                };
                left && match &comparison.right {
                    Operand::Literal(_) => true,
                    Operand::Path(path) => is_result(path),
                }
            }
            Clause::Changed(_) => false,
            Clause::Exists(path) => is_result(path),
        }
    }
}

/// A comparison of two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What is compared.
    pub left: Measure,
    /// How.
    pub how: Comparator,
    /// What it is compared with.
    pub right: Operand,
}

/// What stands on the left of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The value at a path.
    Value(ValuePath),
    /// How many entries or characters the value at the path has.
    Length(ValuePath),
    /// By how much the number at the path has grown since the check before.
    Delta(ValuePath),
}

/// What stands on the right of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A value: a text, a number, true, false or null, or a list of those.
    Literal(Value),
    /// The value at a path.
    Path(ValuePath),
}

names! {
    /// How two values are compared.
    Comparator {
        /// They are equal; numbers by value.
        Equal = "==",
        /// They are not equal.
        Unequal = "!=",
        /// Of two numbers or two texts, the left one is greater or equal.
        AtLeast = ">=",
        /// Of two numbers or two texts, the left one is less or equal.
        AtMost = "<=",
        /// Of two numbers or two texts, the left one is greater.
        Greater = ">",
        /// Of two numbers or two texts, the left one is less.
        Less = "<",
        /// The right text is a part of the left one, or the right value is an item or a key of the left one.
        Contains = "contains",
        /// The left value is an item of the right list, or a part of the right text.
        In = "in",
    }
}

/// Where a value is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePath {
    /// Where the path begins.
    pub root: PathRoot,
    /// The steps from there, outermost first.
    pub steps: Box<[Step]>,
}

names! {
    /// Where a path begins.
    PathRoot {
        /// What the call answered; null if it failed.
        Result = "result",
        /// What the call of the check before answered.
        Previous = "previous",
        /// Why the call failed; null if it did not.
        Error = "error",
        /// How many checks in a row have failed, this one included; 0 after one that did not.
        Streak = "streak",
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The key in a map.
    pub key: Box<str>,
    /// The place in a list, from 0; `None` if the key is no number.
    pub place: Option<u32>,
}

impl Condition {
    /// Makes a condition of a tree that the parser has made of this text.
    pub(crate) fn new(text: Box<str>, root: Clause) -> Condition {
        Condition { text, root }
    }

    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the tree.
    pub fn root(&self) -> &Clause {
        &self.root
    }

    /// Returns whether the condition is about one result alone: nothing is compared with a check before, or with an error.
    pub fn is_about_one_result(&self) -> bool {
        self.root.is_about_one_result()
    }

    /// Returns whether a part of the condition is about failed calls. Any other condition says nothing of a call that failed.
    pub(crate) fn is_about_errors(&self) -> bool {
        self.root.is_about_errors()
    }
}

impl Clause {
    fn is_about_errors(&self) -> bool {
        match self {
            Clause::All(clauses) | Clause::Any(clauses) => clauses.iter().any(Clause::is_about_errors),
            Clause::Not(clause) => clause.is_about_errors(),
            Clause::Compare(comparison) => {
                let Comparison { left, right, .. } = &**comparison;
                let (Measure::Value(path) | Measure::Length(path) | Measure::Delta(path)) = left;
                path.is_about_errors() || matches!(right, Operand::Path(path) if path.is_about_errors())
            }
            Clause::Changed(path) | Clause::Exists(path) => path.is_about_errors(),
        }
    }
}

impl ValuePath {
    fn is_about_errors(&self) -> bool {
        match self.root {
            PathRoot::Error | PathRoot::Streak => true,
            PathRoot::Result | PathRoot::Previous => false,
        }
    }
}

impl Step {
    /// Makes the step to this key, which in a list is a place if it is written as a number.
    pub fn new(key: &str) -> Step {
        // `parse` alone would take `+1`, which is a key.
        let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
        Step { key: key.into(), place: key.parse().ok().filter(|_| is_number) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ValuePath {
    /// Prints the path as it can be written: without `result`, with places in brackets, and odd keys in brackets and quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = self.steps.iter().peekable();
        match self.root {
            PathRoot::Result => {
                // `result` is left out only before a key that cannot be read as a place, a root or a keyword.
                let is_first = |step: &&Step| step.place.is_none() && step.is_plain() && !step.is_root();
                match steps.next_if(is_first) {
                    Some(first) => f.write_str(&first.key)?,
                    None => f.write_str(PathRoot::Result.name())?,
                }
            }
            PathRoot::Previous | PathRoot::Error | PathRoot::Streak => f.write_str(self.root.name())?,
        }
        steps.try_for_each(|step| step.fmt(f))
    }
}

impl Step {
    /// Whether the key can stand behind a dot.
    fn is_plain(&self) -> bool {
        let is_of_name =
            |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '$' | '@' | '/');
        let begins = self.key.starts_with(|first: char| first.is_alphabetic() || first == '_');
        begins && self.key.chars().all(is_of_name)
    }

    /// Whether the key, at the beginning of a path, would be read as something else.
    fn is_root(&self) -> bool {
        PathRoot::parse(&self.key).is_some() || KEYWORDS.contains(&&*self.key)
    }
}

/// Words that no path begins with; as keys they stand behind `result.`.
pub(crate) const KEYWORDS: [&str; 10] =
    ["and", "or", "not", "in", "contains", "true", "false", "null", "True", "False"];

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(_) => write!(f, "[{}]", self.key),
            None if self.is_plain() => write!(f, ".{}", self.key),
            None => write!(f, "[\"{}\"]", self.key.replace('\\', "\\\\").replace('"', "\\\"")),
        }
    }
}
