//! Chooses the notation of a body and of its answer, by media type.

use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use crate::dialect::Notation;

/// The media type of each notation.
pub(in crate::surface::http) const fn media_type(notation: Notation) -> &'static str {
    match notation {
        Notation::Edn => "application/edn",
        Notation::Json => "application/json",
    }
}

/// The notation of a body; `None` for an unknown or missing media type, or an encoding other than
/// UTF-8.
pub(in crate::surface::http) fn of_body(headers: &HeaderMap) -> Option<Notation> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    // Sent twice: which one counts is unclear.
    let (first, None) = (types.next()?, types.next()) else { return None };
    let mut parts = first.to_str().ok()?.split(';').map(str::trim);
    let notation = parts.next().and_then(named)?;
    // Another parameter could change the meaning of the body, so none but the charset is accepted.
    parts.all(is_utf8).then_some(notation)
}

/// The notation that the client prefers for the answer; by default that of its body, and JSON
/// without a body.
pub(in crate::surface::http) fn of_answer(headers: &HeaderMap) -> Notation {
    let asked = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut best = None;
    for range in asked.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let notation = parts.next().and_then(named);
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
        let (Some(notation), Some(weight)) = (notation, weight) else { continue };
        // Above zero: `q=0` means "not acceptable" (RFC 9110, section 12.4.2). The first of equals
        // wins.
        if weight > best.map_or(0.0_f32, |(_, weight)| weight) {
            best = Some((notation, weight));
        }
    }
    best.map(|(notation, _)| notation).or_else(|| of_body(headers)).unwrap_or(Notation::Json)
}

fn named(media_type: &str) -> Option<Notation> {
    let is = |notation| media_type.eq_ignore_ascii_case(self::media_type(notation));
    [Notation::Edn, Notation::Json].into_iter().find(|notation| is(*notation))
}

fn is_utf8(parameter: &str) -> bool {
    let value = parameter.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("charset"));
    value.is_some_and(|(_, value)| value.trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(accept: &str, content_type: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [(ACCEPT, accept), (CONTENT_TYPE, content_type)] {
            if !value.is_empty() {
                headers.insert(name, value.parse().unwrap());
            }
        }
        headers
    }

    #[test]
    fn a_body_is_edn_or_json() {
        let check = |content_type, expected| {
            assert_eq!(of_body(&headers("", content_type)), expected, "{content_type}");
        };
        check("application/edn", Some(Notation::Edn));
        check("application/json", Some(Notation::Json));
        check("Application/JSON; charset=UTF-8", Some(Notation::Json));
        check("application/edn;charset=\"utf-8\"", Some(Notation::Edn));
        for other in [
            "",
            "text/plain",
            "application/jsonx",
            "application/json; charset=utf-16",
            "application/json; boundary=x",
            "multipart/form-data; boundary=application/json",
            "application/x-www-form-urlencoded",
            "text/plain, application/json",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn an_answer_is_what_the_client_likes_best() {
        let check = |accept, body, expected| {
            assert_eq!(of_answer(&headers(accept, body)), expected, "{accept} / {body}");
        };
        check("", "", Notation::Json);
        check("", "application/edn", Notation::Edn);
        check("*/*", "application/edn", Notation::Edn);
        check("application/json", "application/edn", Notation::Json);
        check("application/edn", "application/json", Notation::Edn);
        check("text/html, application/edn;q=0.5, application/json;q=0.4", "", Notation::Edn);
        check("application/edn;q=0", "", Notation::Json);
        check("application/edn;q=x, text/html", "application/json", Notation::Json);
    }
}
