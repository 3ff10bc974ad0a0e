//! The grammar of conditions.
//!
//! ```text
//! any   = all (("or" | "||") all)*            all  = not (("and" | "&&") not)*
//! not   = ("not" | "!") not | "(" any ")" | test
//! test  = changed(path) | exists(path) | left operator right
//! left  = path | len(path) | delta(path)      path = name ("." name | "[" place-or-text "]")*
//! right = "text" | 'text' | number | true | false | null | [ literals ] | result.path | previous.path | bare words
//! ```
//!
//! It is read from left to right, so an operator in quotes is text. Bare words go on to the end, or to `and`, `or` or `)`. What
//! they may be is `bare.rs`.
//! Source: SEED-001's `expression`, one comparison; the rest is ours.

use super::bare::{self, FUNCTIONS};
use super::error::{ConditionError, ConditionFault};
use super::scan::Scan;
use crate::domain::KEYWORDS;
use crate::domain::{Clause, Comparator, Comparison, Condition, Measure, Operand, PathRoot, Step, ValuePath};
use crate::edn::{BigDec, Value};
use crate::limits;

/// Parses a condition.
///
/// # Errors
/// [`ConditionError`], with what is wrong and where.
///
/// ```
/// use reveille::engine::parse_condition;
/// assert!(parse_condition("result.status_code != 200 and not error contains 'timeout'").is_ok());
/// assert_eq!(parse_condition("result.status_code = 200").map_err(|error| error.at), Err(20));
/// ```
pub fn parse_condition(text: &str) -> Result<Condition, ConditionError> {
    Parser::new(text)?.condition(text)
}

/// Parses the condition of a watch that was started before. It may have bare words that a new one may not have: such a watch
/// goes on as it is.
///
/// # Errors
/// [`ConditionError`], with what is wrong and where.
pub(crate) fn parse_stored_condition(text: &str) -> Result<Condition, ConditionError> {
    Parser { is_stored: true, ..Parser::new(text)? }.condition(text)
}

/// Parses a path by itself, such as `headers.date`; one that does not begin with `result`, `error`, `previous` or `streak` is
/// inside the result.
///
/// # Errors
/// [`ConditionError`], with what is wrong and where.
pub fn parse_path(text: &str) -> Result<ValuePath, ConditionError> {
    let mut parser = Parser::new(text)?;
    let path = parser.path()?;
    parser.end()?;
    Ok(path)
}

struct Parser<'t> {
    scan: Scan<'t>,
    depth: u64,
    comparisons: u64,
    is_stored: bool,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Parser<'t>, ConditionError> {
        let mut scan = Scan::new(text);
        if text.len() as u64 > limits::CONDITION_BYTES.value {
            return Err(scan.fault(ConditionFault::TooLong));
        }
        scan.blanks();
        if scan.rest().is_empty() {
            return Err(scan.fault(ConditionFault::Empty));
        }
        Ok(Parser { scan, depth: 0, comparisons: 0, is_stored: false })
    }

    fn condition(mut self, text: &str) -> Result<Condition, ConditionError> {
        let root = self.any()?;
        self.end()?;
        Ok(Condition::new(text.trim().into(), root))
    }

    fn end(&mut self) -> Result<(), ConditionError> {
        self.scan.blanks();
        if self.scan.rest().is_empty() { Ok(()) } else { Err(self.scan.fault(ConditionFault::Surplus)) }
    }

    fn any(&mut self) -> Result<Clause, ConditionError> {
        let mut clauses = vec![self.all()?];
        while self.joined("or", "||") {
            clauses.push(self.all()?);
        }
        Ok(one_or(clauses, Clause::Any))
    }

    fn all(&mut self) -> Result<Clause, ConditionError> {
        let mut clauses = vec![self.not()?];
        while self.joined("and", "&&") {
            clauses.push(self.not()?);
        }
        Ok(one_or(clauses, Clause::All))
    }

    fn joined(&mut self, word: &str, sign: &str) -> bool {
        self.scan.blanks();
        self.scan.word(word) || self.scan.sign(sign)
    }

    fn not(&mut self) -> Result<Clause, ConditionError> {
        self.scan.blanks();
        if self.scan.word("not") || self.scan.sign("!") {
            return self.deeper(Parser::not).map(|clause| Clause::Not(Box::new(clause)));
        }
        let opened = self.scan.at();
        if !self.scan.sign("(") {
            return self.test();
        }
        let clause = self.deeper(Parser::any)?;
        self.scan.blanks();
        match self.scan.rest() {
            "" => Err(self.scan.fault_at(opened, ConditionFault::Unclosed { opened: '(' })),
            _ if self.scan.sign(")") => Ok(clause),
            _ => Err(self.scan.fault(ConditionFault::Surplus)),
        }
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ConditionError>,
    ) -> Result<T, ConditionError> {
        self.depth += 1;
        if self.depth > limits::CONDITION_DEPTH.value {
            return Err(self.scan.fault(ConditionFault::TooDeep));
        }
        // An error ends the parse, so the depth need not be taken back then.
        let clause = read(self)?;
        self.depth -= 1;
        Ok(clause)
    }

    fn test(&mut self) -> Result<Clause, ConditionError> {
        self.comparisons += 1;
        if self.comparisons > limits::CONDITION_COMPARISONS.value {
            return Err(self.scan.fault(ConditionFault::TooMany));
        }
        let left = match self.function()? {
            Some(("changed", path)) => return Ok(Clause::Changed(path)),
            Some(("exists", path)) => return Ok(Clause::Exists(path)),
            Some(("len", path)) => Measure::Length(path),
            // Only `delta` is left of the functions.
            Some((_, path)) => Measure::Delta(path),
            None => Measure::Value(self.path()?),
        };
        let how = self.comparator()?;
        let right = self.operand(how)?;
        Ok(Clause::Compare(Box::new(Comparison { left, how, right })))
    }

    /// A function and its argument, if one is next.
    fn function(&mut self) -> Result<Option<(&'static str, ValuePath)>, ConditionError> {
        let from = self.scan.at();
        let function = FUNCTIONS.into_iter().find(|function| self.scan.word(function));
        self.scan.blanks();
        let opened = self.scan.at();
        // A key can be called as a function is; only the bracket tells.
        let Some(function) = function.filter(|_| self.scan.sign("(")) else {
            self.scan.back(from);
            return Ok(None);
        };
        self.scan.blanks();
        let argument = self.scan.at();
        let path = self.path()?;
        let is_sound = match (function, path.root) {
            (_, PathRoot::Result) | ("changed" | "exists" | "len", PathRoot::Error) => true,
            ("exists" | "len", PathRoot::Previous) => true,
            (_, PathRoot::Previous | PathRoot::Error | PathRoot::Streak) => false,
        };
        if !is_sound {
            return Err(self.scan.fault_at(argument, ConditionFault::Argument { function }));
        }
        self.scan.blanks();
        if !self.scan.sign(")") {
            return Err(self.scan.fault_at(opened, ConditionFault::Unclosed { opened: '(' }));
        }
        Ok(Some((function, path)))
    }

    fn path(&mut self) -> Result<ValuePath, ConditionError> {
        let from = self.scan.at();
        let first = self.scan.name();
        let begins =
            first.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$' | '@'));
        if !begins || KEYWORDS.contains(&first) {
            return Err(self.scan.fault_at(from, ConditionFault::NoPath));
        }
        // JSONPath calls the whole result so.
        let root = if first == "$" { Some(PathRoot::Result) } else { PathRoot::parse(first) };
        let mut steps = Vec::new();
        if root.is_none() {
            steps.push(Step::new(first));
        }
        while let Some(step) = self.step()? {
            if steps.len() as u64 >= limits::PATH_STEPS.value {
                return Err(self.scan.fault(ConditionFault::LongPath));
            }
            steps.push(step);
        }
        Ok(ValuePath { root: root.unwrap_or(PathRoot::Result), steps: steps.into() })
    }

    fn step(&mut self) -> Result<Option<Step>, ConditionError> {
        if self.scan.sign(".") {
            let name = self.scan.name();
            return if name.is_empty() {
                Err(self.scan.fault(ConditionFault::NoName))
            } else {
                Ok(Some(Step::new(name)))
            };
        }
        let opened = self.scan.at();
        if !self.scan.sign("[") {
            return Ok(None);
        }
        self.scan.blanks();
        let step = match self.scan.peek() {
            // In quotes it is a key, whatever it looks like.
            Some(quote @ ('"' | '\'')) => Step { key: self.scan.quoted(quote)?.into(), place: None },
            _ => Step::new(self.scan.name()),
        };
        // Without quotes, brackets take a place in a list only: `items[0]`. A key stands behind a dot or in quotes.
        let is_place = step.place.is_some() || self.scan.since(opened).ends_with(['"', '\'']);
        if !is_place {
            return Err(self.scan.fault_at(opened + 1, ConditionFault::NoName));
        }
        self.scan.blanks();
        if self.scan.sign("]") {
            Ok(Some(step))
        } else {
            Err(self.scan.fault_at(opened, ConditionFault::Unclosed { opened: '[' }))
        }
    }

    fn comparator(&mut self) -> Result<Comparator, ConditionError> {
        self.scan.blanks();
        let from = self.scan.at();
        let words = [Comparator::Contains, Comparator::In];
        if let Some(word) = words.into_iter().find(|word| self.scan.word(word.name())) {
            return Ok(word);
        }
        // All signs that follow each other, so that `=>` is not read as something else and a rest.
        let rest = self.scan.rest();
        let signs = &rest[..rest.find(|next| !"=!<>~&|".contains(next)).unwrap_or(rest.len())];
        if let Some(sign) = Comparator::parse(signs) {
            self.scan.pass(signs.len());
            return Ok(sign);
        }
        let is_over = rest.is_empty() || rest.starts_with(')') || ["&&", "||"].contains(&signs);
        if is_over || self.scan.word("and") || self.scan.word("or") {
            return Err(self.scan.fault_at(from, ConditionFault::NoOperator));
        }
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let found = if signs.is_empty() { word } else { signs };
        let found = found.chars().take(ECHO_CHARS).collect::<String>().into();
        Err(self.scan.fault_at(from, ConditionFault::UnknownOperator { found }))
    }

    fn operand(&mut self, how: Comparator) -> Result<Operand, ConditionError> {
        self.scan.blanks();
        let from = self.scan.at();
        if self.scan.word("and") || self.scan.word("or") {
            return Err(self.scan.fault_at(from, ConditionFault::NoValue));
        }
        match self.scan.peek() {
            None => Err(self.scan.fault(ConditionFault::NoValue)),
            Some('[') => self.list().map(|items| Operand::Literal(Value::vector(items))),
            Some(quote @ ('"' | '\'')) => self.scan.quoted(quote).map(|text| Operand::Literal(text.into())),
            Some(_) => self.bare(how),
        }
    }

    fn list(&mut self) -> Result<Vec<Value>, ConditionError> {
        let opened = self.scan.at();
        self.scan.pass(1);
        let mut items = Vec::new();
        loop {
            self.scan.blanks();
            if items.is_empty() && self.scan.sign("]") {
                return Ok(items);
            }
            items.push(self.item(opened)?);
            self.scan.blanks();
            if self.scan.sign("]") {
                return Ok(items);
            }
            if !self.scan.sign(",") {
                return Err(self.scan.fault_at(opened, ConditionFault::Unclosed { opened: '[' }));
            }
        }
    }

    fn item(&mut self, opened: usize) -> Result<Value, ConditionError> {
        match self.scan.peek() {
            None => Err(self.scan.fault_at(opened, ConditionFault::Unclosed { opened: '[' })),
            Some(quote @ ('"' | '\'')) => self.scan.quoted(quote).map(Value::from),
            Some(_) => {
                let rest = self.scan.rest();
                let words = rest[..rest.find([',', ']']).unwrap_or(rest.len())].trim_end();
                if words.is_empty() {
                    return Err(self.scan.fault(ConditionFault::NoValue));
                }
                self.scan.pass(words.len());
                Ok(literal(words))
            }
        }
    }

    /// A value without quotes: to the end, or to `and`, `or`, or a bracket that it has not opened itself.
    fn bare(&mut self, how: Comparator) -> Result<Operand, ConditionError> {
        let from = self.scan.at();
        let mut opened = 0_u32;
        while let Some(next) = self.scan.peek() {
            match next {
                '(' => opened += 1,
                ')' if opened == 0 => break,
                ')' => opened -= 1,
                _ if next.is_whitespace() && self.ends_here() => break,
                _ if ["&&", "||"].iter().any(|sign| self.scan.rest().starts_with(sign)) => break,
                _ => {}
            }
            self.scan.pass(next.len_utf8());
        }
        let end = self.scan.at();
        let words = self.scan.since(from).trim_end();
        if words.is_empty() {
            return Err(self.scan.fault_at(from, ConditionFault::NoValue));
        }
        // The root alone is a text: `!= result` compares with the word.
        let is_path = ["result", "previous"]
            .iter()
            .any(|root| words.strip_prefix(root).is_some_and(|rest| rest.starts_with(['.', '['])));
        if is_path {
            self.scan.back(from);
            return self.path().map(Operand::Path);
        }
        let value = literal(words);
        if value.as_str().is_some() {
            self.text_is_meant(words, from, how)?;
        }
        self.scan.back(end);
        Ok(Operand::Literal(value))
    }

    /// Refuses bare words that are probably no text: as one they would compare silently, and for ever with the same outcome.
    fn text_is_meant(&self, words: &str, from: usize, how: Comparator) -> Result<(), ConditionError> {
        let other = bare::operator_at(words).filter(|_| !self.is_stored);
        if let Some(place) = [bare::sign_at(words), other].into_iter().flatten().min() {
            return Err(self.scan.fault_at(from + place, ConditionFault::OperatorInText));
        }
        let is_order = match how {
            Comparator::AtLeast | Comparator::AtMost | Comparator::Greater | Comparator::Less => true,
            Comparator::Equal | Comparator::Unequal | Comparator::Contains | Comparator::In => false,
        };
        let number = bare::number_of(words).filter(|_| is_order && !self.is_stored);
        number.map_or(Ok(()), |number| {
            Err(self.scan.fault_at(from, ConditionFault::NotANumber { number: number.into() }))
        })
    }

    /// Whether behind the blanks that are next, another comparison follows, or nothing.
    fn ends_here(&mut self) -> bool {
        let from = self.scan.at();
        self.scan.blanks();
        let ends = self.scan.rest().is_empty() || self.scan.word("and") || self.scan.word("or");
        self.scan.back(from);
        ends
    }
}

fn one_or(mut clauses: Vec<Clause>, join: impl FnOnce(Box<[Clause]>) -> Clause) -> Clause {
    if clauses.len() == 1 { clauses.remove(0) } else { join(clauses.into()) }
}

/// What words without quotes stand for.
fn literal(words: &str) -> Value {
    match words {
        "true" | "True" => return true.into(),
        "false" | "False" => return false.into(),
        "null" | "None" => return Value::Nil,
        _ => {}
    }
    // Only what looks like one: Rust reads `inf` and `nan` as numbers too.
    let is_number = words.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if !is_number {
        return words.into();
    }
    let whole = words.parse().ok().map(Value::Int);
    let float = || words.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float);
    // A number of many digits stays exact.
    let exact = || BigDec::parse(words).map(|number| Value::BigDec(Box::new(number)));
    let is_long = words.len() > EXACT_DIGITS;
    let number = whole.or_else(|| if is_long { exact().or_else(float) } else { float().or_else(exact) });
    number.unwrap_or_else(|| words.into())
}

/// Characters of an unknown operator that are echoed.
const ECHO_CHARS: usize = 16;
/// Digits that a float holds for certain.
const EXACT_DIGITS: usize = 15;
