//! T49: what is signed, and what is believed.

use reveille::adapter::outbound::{KeyFault, MessageId, SignatureFault, Signed, SigningKey, sign, verify};
use reveille::domain::Moment;

use super::rows;

fn keys(text: &str) -> Vec<SigningKey> {
    text.split(',').map(|key| SigningKey::parse(key).expect("a key")).collect()
}

fn at(seconds: i64) -> Moment {
    Moment::new(seconds, 0).expect("in range")
}

fn verdict(answer: Result<(), SignatureFault>) -> &'static str {
    match answer {
        Ok(()) => "ok",
        Err(SignatureFault::Id) => "id",
        Err(SignatureFault::Timestamp) => "timestamp",
        Err(SignatureFault::Stale) => "stale",
        Err(SignatureFault::NoMatch) => "no-match",
    }
}

#[test]
fn a_post_is_believed_as_the_table_says() {
    let rows = rows("signatures.txt");
    assert!(rows.len() >= 50, "{} rows", rows.len());
    for (line, row) in rows {
        let [key, id, timestamp, now, signature, body, expected] = &row[..] else {
            panic!("line {line}: {row:?}")
        };
        let signed = Signed { id, timestamp, signature };
        let now = at(now.parse().expect("seconds"));
        assert_eq!(verdict(verify(&keys(key), signed, body.as_bytes(), now)), expected, "line {line}");
    }
}

/// Of each row that is believed and has the signature of one key, the same signature is made.
#[test]
fn what_is_signed_is_what_the_table_says() {
    let mut made = 0;
    for (line, row) in rows("signatures.txt") {
        let [key, id, timestamp, _, signature, body, expected] = &row[..] else {
            panic!("line {line}: {row:?}")
        };
        if expected != "ok"
            || signature.split(' ').count() != 1
            || timestamp.starts_with('0')
            || key.contains(',')
        {
            continue;
        }
        let id = MessageId::of(id).expect("an id");
        let seconds = timestamp.parse().expect("seconds");
        assert_eq!(sign(&keys(key), &id, seconds, body.as_bytes()), *signature, "line {line}");
        made += 1;
    }
    assert!(made >= 5, "{made} made");
}

#[test]
fn while_keys_are_exchanged_either_is_enough() {
    let (old, new) = (
        keys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        keys("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
    );
    let both = [old.clone(), new.clone()].concat();
    let id = MessageId::of("sch-1~1~2026-06-01T00:00:00.500Z").expect("an id");
    let signature = sign(&both, &id, 1_000, b"{}");
    assert_eq!(signature.split(' ').count(), 2);
    for keys in [old, new, both] {
        let signed = Signed { id: id.as_str(), timestamp: "1000", signature: &signature };
        assert_eq!(verify(&keys, signed, b"{}", at(1_000)), Ok(()));
    }
}

#[test]
fn every_byte_counts() {
    let key = keys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (id, body) = (MessageId::of("one").expect("an id"), b"{\"a\": 1}".to_vec());
    let signature = sign(&key, &id, 1_000, &body);
    let signed = Signed { id: "one", timestamp: "1000", signature: &signature };
    for i in 0..body.len() {
        for bit in 0..8 {
            let mut other = body.clone();
            other[i] ^= 1 << bit;
            assert_eq!(
                verify(&key, signed, &other, at(1_000)),
                Err(SignatureFault::NoMatch),
                "byte {i}, bit {bit}"
            );
        }
    }
}

#[test]
fn different_texts_have_different_ids_without_a_full_stop() {
    let texts = [
        "a.b",
        "a%2Eb",
        "a b",
        "a%20b",
        "a\u{e9}b",
        "a\nb",
        "ab",
        "a.b.",
        "sch-1~1~2026-06-01T00:00:00.500Z",
    ];
    let ids: Vec<_> = texts.iter().map(|text| MessageId::of(text).expect("an id")).collect();
    for (i, id) in ids.iter().enumerate() {
        assert!(id.as_str().bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.'), "{id:?}");
        assert!(ids[..i].iter().all(|other| other != id), "{id:?} twice");
    }
    assert_eq!(
        MessageId::of("sch-1~1~2026-06-01T00:00:00Z").expect("an id").as_str(),
        "sch-1~1~2026-06-01T00:00:00Z"
    );
    assert_eq!(MessageId::of(""), None);
    assert_eq!(MessageId::of(&"x".repeat(513)), None);
}

#[test]
fn a_key_is_read_strictly_and_never_told() {
    let cases = [
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Err(KeyFault::Prefix)),
        ("whsec_", Err(KeyFault::Length { bytes: 0 })),
        ("whsec_plJ3nmyCDGBKInavdOK15jsl", Err(KeyFault::Length { bytes: 18 })),
        ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY=", Err(KeyFault::Length { bytes: 23 })),
        ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", Ok(())),
        ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBk", Err(KeyFault::Base64)),
        ("whsec_not base64 at all, and long enough for it", Err(KeyFault::Base64)),
        (" whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", Err(KeyFault::Prefix)),
    ];
    for (text, expected) in cases {
        let read = SigningKey::parse(text);
        if let Ok(key) = &read {
            assert_eq!(format!("{key:?}"), "SigningKey(…)");
        }
        if let Err(fault) = &read {
            let secret = text.trim_start_matches("whsec_");
            assert!(secret.is_empty() || !fault.to_string().contains(secret), "{fault}");
        }
        assert_eq!(read.map(|_| ()), expected, "{text}");
    }
    let long = format!("whsec_{}", "A".repeat(88));
    assert_eq!(SigningKey::parse(&long).map(|_| ()), Err(KeyFault::Length { bytes: 66 }));
}
