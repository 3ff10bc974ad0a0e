//! The words of descriptions: which ones name a task, and how a sentence says that a task has stopped.
//!
//! Descriptions are English phrases such as "I'll check your email", because the tool asks for such. Anything else is quoted
//! as it is. Invariant: a rule that does not fit changes what is suggested or said, and never what is delivered.

use std::collections::BTreeSet;

/// The words of a text that name a task, without their endings: `stop checking my email` and `I'll check your emails` have the
/// same ones.
pub(super) fn content(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase().replace('’', "'");
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    let words = words.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty());
    words.filter(|word| !EMPTY.contains(word)).map(stem).collect()
}

/// A word without the ending of a plural or of a verb.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    // Short words keep their endings: `bus` is no plural, and `sing` no form of a verb.
    let long = |end: &&str| end.chars().count() >= 3;
    let cut = word.strip_suffix("ing").filter(long);
    let cut = cut.or_else(|| word.strip_suffix('s').filter(long).filter(|rest| !rest.ends_with('s')));
    let rest = cut.unwrap_or(word);
    let rest = rest.strip_suffix('e').filter(long).unwrap_or(rest);
    // `running` and `run`: the doubled letter goes as well.
    let mut letters: Vec<char> = rest.chars().collect();
    if let [.., one, two] = letters[..]
        && one == two
        && letters.len() > 3
    {
        letters.pop();
    }
    letters.into_iter().collect()
}

/// What is no longer done: `checking your email` for `I'll check your email`; `None` for a phrase of another form.
pub(super) fn stopped(description: &str) -> Option<String> {
    let text = description.trim().trim_end_matches('.').replace('’', "'");
    let first = text.split(char::is_whitespace).next().unwrap_or_default();
    if first.len() > 4 && first.ends_with("ing") {
        // The sentence goes on with it: "No longer checking…". What is not only capitalized is a name.
        let is_plain = first.chars().skip(1).all(char::is_lowercase);
        return Some(if is_plain { first.to_lowercase() + &text[first.len()..] } else { text });
    }
    let head = |lead: &str| text.get(..lead.len()).filter(|head| head.eq_ignore_ascii_case(lead));
    let lead = LEADS.iter().find(|lead| head(lead).is_some())?;
    let rest = text[lead.len()..].trim_start();
    let (verb, rest) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
    // "I'll also check" begins with no verb, and "I'll overdue" has none.
    VERBS.split(' ').any(|known| known == verb).then(|| format!("{}{rest}", gerund(verb)))
}

/// `check` becomes `checking`, `write` `writing`, `run` `running`.
fn gerund(verb: &str) -> String {
    let bytes = verb.as_bytes();
    let is_vowel = |letter: &u8| b"aeiou".contains(letter);
    let (last, before) = (bytes.last(), bytes.len().checked_sub(2).and_then(|at| bytes.get(at)));
    if let Some(stem) = verb.strip_suffix("ie") {
        return format!("{stem}ying");
    }
    if last == Some(&b'e') && verb != "be" && !before.is_some_and(|letter| b"eoy".contains(letter)) {
        return format!("{}ing", &verb[..verb.len() - 1]);
    }
    // One syllable that ends in one vowel and one consonant doubles the consonant.
    let groups = bytes.split(|letter| !is_vowel(letter)).filter(|group| !group.is_empty()).count();
    let short =
        bytes.len().checked_sub(3).and_then(|at| bytes.get(at)).is_none_or(|letter| !is_vowel(letter));
    let closes = last.is_some_and(|letter| !is_vowel(letter) && !b"wxy".contains(letter));
    match last {
        // Two syllables of which the second is stressed.
        Some(last) if DOUBLED.contains(&verb) => format!("{verb}{}ing", char::from(*last)),
        Some(last) if groups == 1 && short && closes && before.is_some_and(is_vowel) => {
            format!("{verb}{}ing", char::from(*last))
        }
        Some(_) | None => format!("{verb}ing"),
    }
}

/// How a description begins that the tool asks for.
const LEADS: [&str; 3] = ["I'll ", "I will ", "I am going to "];
const DOUBLED: [&str; 8] = ["begin", "submit", "commit", "forget", "upset", "reset", "rerun", "prefer"];
/// What agents are reminded to do. A sentence with another word is quoted as it is.
const VERBS: &str = "add alert analyse analyze answer approve archive ask assess attend audit back begin bring build \
                     buy call change check clean clear close collect commit compare compile complete confirm contact \
                     continue copy count create delete deploy do download draft edit ensure evaluate examine export \
                     fetch file find finish fix follow forward generate get give go handle help import inform \
                     inspect install investigate join list log look mail make measure merge message migrate monitor \
                     move notify open order organise organize pay ping plan poll post prepare print probe process \
                     publish pull push put query read rebase rebuild recheck record refresh release reload remind \
                     remove renew repeat replace reply report request rerun reset respond restart resume retry \
                     return review revisit rotate run save say scan search see send share show sort start stop store \
                     submit summarise summarize sync take talk tell test tidy tie track translate trigger try turn \
                     update upgrade upload use validate verify visit wait wake warn watch water work write";
/// Words that name no task: pronouns, articles, and the words of asking.
const EMPTY: [&str; 58] = [
    "a",
    "about",
    "active",
    "all",
    "also",
    "an",
    "and",
    "any",
    "anymore",
    "at",
    "by",
    "can",
    "cancel",
    "delete",
    "do",
    "don't",
    "every",
    "for",
    "from",
    "i",
    "i'll",
    "i'm",
    "if",
    "in",
    "is",
    "it",
    "its",
    "longer",
    "me",
    "more",
    "my",
    "no",
    "not",
    "of",
    "on",
    "one",
    "or",
    "our",
    "please",
    "remind",
    "reminder",
    "reminders",
    "reminding",
    "remove",
    "stop",
    "that",
    "the",
    "there",
    "this",
    "to",
    "us",
    "we",
    "will",
    "with",
    "you",
    "your",
    "what",
    "when",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_task_are_found_in_other_forms() {
        #[track_caller]
        fn check(one: &str, other: &str) {
            assert_eq!(content(one), content(other), "{one} / {other}");
            assert!(!content(one).is_empty());
        }
        check("Stop checking my email", "I'll check your emails");
        check("no longer running the tests", "I'll run the test");
        check("writing reports", "I’ll write the report");
        check("the cancel reminder for the logs, please", "log");
        assert!(content("stop reminding me of it").is_empty());
        // Short words keep what only looks like an ending.
        assert_eq!(content("the bus sings").into_iter().collect::<Vec<_>>(), ["bus", "sing"]);
    }

    #[test]
    fn each_verb_has_its_gerund() {
        for verb in VERBS.split(' ') {
            let doing = gerund(verb);
            let stem = doing.strip_suffix("ing").expect(verb);
            let plain = verb.strip_suffix("ie").map(|stem| stem.to_owned() + "y");
            let doubled = verb.chars().last().map(|last| format!("{verb}{last}"));
            let forms = [Some(verb.to_owned()), verb.strip_suffix('e').map(str::to_owned), plain, doubled];
            assert!(forms.iter().flatten().any(|form| form == stem), "{verb}: {doing}");
        }
        for (verb, doing) in
            [("visit", "visiting"), ("plan", "planning"), ("submit", "submitting"), ("see", "seeing")]
        {
            assert_eq!(gerund(verb), doing);
        }
    }

    #[test]
    fn what_has_stopped_is_told_in_english() {
        for (given, expected) in [
            ("I'll check your email", Some("checking your email")),
            ("I will write the report.", Some("writing the report")),
            ("i'll run the tests", Some("running the tests")),
            ("I’ll monitor the log file", Some("monitoring the log file")),
            ("I'll see whether it is up", Some("seeing whether it is up")),
            ("I'll tie up", Some("tying up")),
            ("I'll read", Some("reading")),
            ("I'll fix it", Some("fixing it")),
            ("I'll begin the backup", Some("beginning the backup")),
            ("I'll not forget", None),
            ("I'll also check", None),
            ("I'll overdue", None),
            ("I'll overdue the report", None),
            ("I'll 2x check", None),
            ("checking the log", Some("checking the log")),
            ("Look at the log", None),
            ("I'll ", None),
            ("é", None),
        ] {
            assert_eq!(stopped(given).as_deref(), expected, "{given}");
        }
    }
}
