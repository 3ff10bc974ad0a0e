//! Tokens for sessions that have none. What lives elsewhere: the tokens of sessions that a caller opens (`runtime`).

use crate::domain::SessionId;
use crate::runtime::{Handle, Token};

/// Issues a token for a session. A session that a schedule opened has none by itself, and a test may let it call all the same.
pub fn token_of(handle: &Handle, session: &SessionId) -> Token {
    let token = Token::from_entropy(handle.random_bits(), handle.random_bits());
    handle.tokens().issue(&token, session);
    token
}
