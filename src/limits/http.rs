//! The bounds of connections: HTTP, streams, sockets, tokens, logins.

use super::declare::{Limit, limits};

limits! { OF_HTTP:
    /// Subscriptions of one connected client.
    CLIENT_SUBSCRIPTIONS = 16 "subscriptions" as "client-subscriptions";
    /// Bytes that may wait to be written to one connected client; a client that does not read is
    /// disconnected at this bound.
    CLIENT_BACKLOG_BYTES = 8_388_608 "bytes" as "client-backlog-bytes";
    /// Shortest token that a person may choose.
    TOKEN_CHARS_MIN = 32 "characters" as "token-chars-min";
    /// How long a client may take to send the head of a request, from the connection or the first
    /// byte on.
    HTTP_HEAD_MS = 5_000 "ms" as "http-head-ms";
    /// How long a client may take to send the body of a request.
    HTTP_BODY_MS = 10_000 "ms" as "http-body-ms";
    /// How long a client has for the body of a request before its connection may be closed to make room for another. A body
    /// that is not sent slowly on purpose has arrived by then.
    HTTP_BODY_GRACE_MS = 1_000 "ms" as "http-body-grace-ms";
    /// How long a connection may stay open between two requests.
    HTTP_IDLE_MS = 60_000 "ms" as "http-idle-ms";
    /// How long a response may make no progress because its client does not read.
    HTTP_STALLED_MS = 30_000 "ms" as "http-stalled-ms";
    /// Connections at the same time. When one more arrives, the oldest connection without a request
    /// in progress is closed.
    HTTP_CONNECTIONS = 512 "connections" as "http-connections";
    /// Connections of one peer address at the same time.
    HTTP_PEER_CONNECTIONS = 32 "connections" as "http-peer-connections";
    /// Connections of all loopback addresses together. Any client of the machine can use each of
    /// these addresses, so they do not tell clients apart.
    HTTP_LOOPBACK_CONNECTIONS = 256 "connections" as "http-loopback-connections";
    /// Connections beyond the other bounds that are left to operators. On one of them, any other
    /// token is refused.
    HTTP_OPERATOR_CONNECTIONS = 16 "connections" as "http-operator-connections";
    /// Request bodies at the same time of which a part has not arrived. While a client sends its body slowly, its
    /// connection is closed if another needs the place.
    HTTP_BODIES = 512 "bodies" as "http-bodies";
    /// Request bodies of one session, and of the fresh sessions that come from it, at the same time of which a part has not
    /// arrived.
    HTTP_SESSION_BODIES = 32 "bodies" as "http-session-bodies";
    /// Request bodies of one host token at the same time of which a part has not arrived. All observers together have as many.
    HTTP_TOKEN_BODIES = 224 "bodies" as "http-token-bodies";
    /// How many of the bodies that are arriving only operators may send.
    HTTP_OPERATOR_BODIES = 64 "bodies" as "http-operator-bodies";
    /// EDN streams, WebSockets, and calls of tools that wait for other calls, over HTTP at the same time. Each occupies a
    /// connection for as long as it lasts.
    HTTP_UPGRADES = 224 "connections" as "http-upgrades";
    /// EDN streams, WebSockets and waiting calls of one session, and of the fresh sessions that come from it, at the same time.
    HTTP_SESSION_UPGRADES = 16 "connections" as "http-session-upgrades";
    /// EDN streams, WebSockets and waiting calls of one host token at the same time. All observers together have as many.
    HTTP_TOKEN_UPGRADES = 96 "connections" as "http-token-upgrades";
    /// How many of the EDN streams, WebSockets and waiting calls are for operators alone.
    HTTP_OPERATOR_UPGRADES = 32 "connections" as "http-operator-upgrades";
    /// EDN streams over the Unix socket at the same time. They do not count as HTTP connections.
    SOCKET_STREAMS = 256 "streams" as "socket-streams";
    /// Bytes of all answers and events, over HTTP and in EDN streams, that are written and wait to be sent. Answers below
    /// `answer-bytes-counted` do not count, nor do shorter backlogs of a stream.
    ANSWERS_BYTES = 268_435_456 "bytes" as "answers-bytes";
    /// Bytes of answers to one session, and to the fresh sessions that come from it, that wait to be sent.
    SESSION_ANSWERS_BYTES = 33_554_432 "bytes" as "session-answers-bytes";
    /// Bytes of answers to one host token that wait to be sent. All observers together have as many.
    TOKEN_ANSWERS_BYTES = 100_663_296 "bytes" as "token-answers-bytes";
    /// How many bytes of the answers that wait to be sent only operators may use.
    OPERATOR_ANSWERS_BYTES = 67_108_864 "bytes" as "operator-answers-bytes";
    /// Shortest answer that counts among those that wait to be sent. The answer to a change is
    /// shorter, so it always arrives.
    ANSWER_BYTES_COUNTED = 4_096 "bytes" as "answer-bytes-counted";
    /// Longest head of a request.
    HTTP_HEAD_BYTES = 32_768 "bytes" as "http-head-bytes";
    /// Header lines of a request.
    HTTP_HEADERS = 64 "headers" as "http-headers";
    /// Requests at the same time on one HTTP/2 connection.
    HTTP_STREAMS = 64 "requests" as "http-streams";
    /// Bytes of an oversized body that are still read and discarded, so that its sender gets the
    /// response instead of a broken connection.
    HTTP_DISCARD_BYTES = 1_048_576 "bytes" as "http-discard-bytes";
    /// How long an orderly stop waits for requests in progress, before it waits for receipts.
    HTTP_DRAIN_MS = 2_000 "ms" as "http-drain-ms";
    /// Wrong tokens of one peer that are answered without delay; each further answer is delayed
    /// longer.
    WRONG_TOKENS = 8 "tokens" as "wrong-tokens";
    /// Longest delay of the answer to a wrong token.
    WRONG_TOKEN_MS = 1_000 "ms" as "wrong-token-ms";
    /// Peers whose wrong tokens are remembered; the peer that was quiet for longest is dropped
    /// first.
    WRONG_TOKEN_PEERS = 1_024 "peers" as "wrong-token-peers";
    /// How long a one-time code for the dashboard is good. It is in an address, and so in a history.
    DASHBOARD_CODE_MS = 60_000 "ms" as "dashboard-code-ms";
    /// One-time codes for the dashboard that nobody has used yet; one more replaces the oldest.
    DASHBOARD_CODES = 16 "codes" as "dashboard-codes";
    /// How long a browser stays logged in at the dashboard.
    DASHBOARD_LOGIN_MS = 43_200_000 "ms" as "dashboard-login-ms";
    /// Browsers that are logged in at the dashboard; one more logs the oldest out.
    DASHBOARD_LOGINS = 32 "logins" as "dashboard-logins";
    /// Longest time until the streams of a closed session's token are ended.
    TOKEN_RECHECK_MS = 1_000 "ms" as "token-recheck-ms";
}
