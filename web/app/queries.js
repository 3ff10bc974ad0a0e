// Every question and every change of the pages. A test checks each against schema/reveille.graphql. A line that ends with
// `# for operators` is left out when a session asks.
const NAME = "scheduleId label zone";
const DUE = `${NAME} fireAt`;
const LINE = `${DUE} kind status reason when nextFireAt originSessionId paused runCount failedCount failuresInRow
  skippedCount deliveredCount durability message pause { by reason since }`;
/** What an assumption changes. */
const SLOT = `slot at will reason scheduleId schedule { ${NAME} } asIs { at will reason }`;
const DECISION = `cursor at kind reason by detail scheduleId sessionId schedule { ${NAME} }`;
const APPROVAL = `id slot sessionId schedule { ${NAME} when } approval {
  digest rule why until kind label owner madeBy editedBy message memory sessionId channel conversation thread target revision config
  description envelope cause dialect durability shared notice { about file { path name } } policy { backoffMs timeoutMs recovery }
  lineage { depth rootScheduleId runId } sessionConfig { sessionName model { provider id } toolCount skillCount } }
  lastApproved { runId at by changedAt differences { part before now } }`;
const MARK = `id slot state reason cause folded attempt finishedAt deliveredAt latenessMs error { message } schedule { ${NAME} }`;
/** Whose turn a session is in. */
const TURN = "turnRun { startedAt deliveredAt schedule { scheduleId label } }";
/** What a run waits for. */
const OPEN = `openRun { attempt retryAt error { message } session { ${TURN} } }`;
/** The schedules whose runs are not all retained any more. */
const LACKING = `lacking: schedules(first: 2, filter: { runsDroppedSince: $from }) { totalCount nodes { ${NAME} kind runs { slot } } }`;

/** What no schedule shows by itself: when the daemon was down, what that lost, holds that are over, and how the channels are. */
const OUTAGES = `downtimes { from until } pastHolds { by reason since until } lostSchedules { scheduleId label sessionId fireAt leftAt lostAt }`;
const CHANNELS = "channels { name kind goesTo agents disabledAt lastDeliveryAt lastFailureAt lastError lastCode failingSince failedCount waitingCount }";

export const SHELL = `query Shell { engine { now version mode cursor held { by reason since } } }`;

/** The past does not know yet that the daemon was down, if it was. */
export const PRESENT_DOWNS = `query PresentDowns { engine { downtimes { from until } } }`;

export const NOW = `query Now($from: DateTime!, $until: DateTime!, $each: Int!) {
  engine { heldRuns { id approval { until rule } schedule { ${NAME} } } openQuestions { digest title until }
    ${OUTAGES} ${CHANNELS}
    imbalance accounting { delivered } countedSince # for operators
  }
  next: forecast(to: $until, first: 200, each: $each) { slot at count will reason scheduleId more schedule {
    ${NAME} failuresInRow target { kind channel } originSession { ${TURN} } } }
  failed: schedules(first: 8, orderBy: FIRE_AT_DESC, filter: { failing: true }) { totalCount nodes { ${DUE} failuresInRow runs { slot state error { message } } } }
  left: schedules(first: 8, orderBy: FIRE_AT_DESC, filter: { status: [LEFT] }) { totalCount nodes { ${DUE} originSessionId } }
  overdue: schedules(first: 8, orderBy: FIRE_AT, filter: { status: [PENDING, QUEUED], dueBefore: $from }) { totalCount nodes {
    ${DUE} status reason target { channel } ${OPEN} } }
  paused: schedules(first: 1, filter: { status: [PAUSED] }) { totalCount }
}`;

export const FEED = `subscription Feed($after: String) {
  events(after: $after) { ${DECISION} lagged truncated }
}`;

/** The names of some schedules. */
export const names = (/** @type {string[]} */ ids) => `query Names { ${ids.map((id, at) => `a${at}: schedule(scheduleId: ${JSON.stringify(id)}) { ${NAME} }`).join(" ")} }`;

export const TIMELINE = `query Timeline($from: DateTime!, $middle: DateTime!, $now: DateTime!, $until: DateTime!, $bucketMs: Long!, $by: TimelineBy!, $rows: Int!, $to: DateTime!, $each: Int!) {
  timeline(from: $from, to: $to, bucketMs: $bucketMs, by: $by, rows: $rows) { start state count at of others more }
  before: runs(first: 60, filter: { from: $from, to: $middle }) { totalCount nodes { ${MARK} } }
  after: runs(first: 60, orderBy: SLOT, filter: { from: $middle, to: $to }) { totalCount nodes { ${MARK} } }
  late: runs(first: 60, filter: { from: $from, to: $to, lateMs: 300000 }) { nodes { ${MARK} } }
  ${LACKING}
  bad: runs(first: 60, filter: { from: $from, to: $to, state: [FAILED, LEFT, CANCELLED, QUEUED] }) { nodes { ${MARK} } }
  engine { downtimes { from until } held { since } pastHolds { since until }
    decisionPage(last: 60, filter: { kind: [SLOTS_SKIPPED], from: $from }) { nodes { reason scheduleId slots { until count } schedule { ${NAME} } } } }
  forecast(from: $now, to: $until, first: 300, each: $each) { slot at count will reason scheduleId more schedule { ${NAME} } }
}`;

export const OVER = `query Over($from: DateTime!, $until: DateTime!) {
  engine { ${OUTAGES} decisionPage(first: 200, filter: { kind: [SLOTS_SKIPPED], from: $from }) {
    totalCount nodes { reason scheduleId slots { from until count } schedule { ${NAME} } } } }
  runs(first: 100, orderBy: SLOT, filter: { from: $from, to: $until }) { totalCount nodes { ${MARK} claimedAt startedAt schedule { runs { slot cause } } } }
  ${LACKING}
}`;

export const SCHEDULES = `query Schedules($first: Int!, $after: String, $filter: ScheduleFilter, $orderBy: ScheduleOrder) {
  schedules(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    totalCount nodes { ${LINE} } pageInfo { hasNextPage endCursor } }
}`;

export const SCHEDULE = `query Schedule($id: ID!) {
  schedule(scheduleId: $id) {
    ${LINE} createdAt updatedAt description madeBy editedBy revision idempotencyKey endedReason
    upcoming(first: 10)
    policy { whenBusy missed overlap recovery endsWith maxLateMs timeoutMs backoffMs } retryWaits
    lifetime { expiresAt maxRuns cancelOnUserActivity diesWithSession }
    target { kind sessionId channel conversation thread } lineage { depth rootScheduleId runId } lastSkip { at reason }
    createdSessionId runs { id slot state reason cause folded attempt finishedAt deliveredAt latenessMs error { message } }
    ${OPEN}
    explain { slot sentence }
  }
}`;

/** What is known of a schedule that is not there. */
export const GONE = `query Gone($id: ID!) {
  explain(scheduleId: $id) { sentence } engine { lostSchedules { scheduleId label sessionId fireAt leftAt lostAt } }
}`;

export const DECISIONS = `query Decisions($filter: DecisionFilter, $last: Int!, $before: String) {
  engine { decisionPage(last: $last, before: $before, filter: $filter) {
    totalCount nodes { ${DECISION} } } }
}`;

export const EXPLAIN = `query Explain($id: ID!, $at: DateTime) {
  schedule(scheduleId: $id) { ${NAME} when status upcoming(first: 3) runs { id slot sessionId } lastSkip { at reason } }
  explain(scheduleId: $id, at: $at) { asked at slot sentence verdict reason by lateMs nextFireAt runId slots scheduleId
    down { from until } obstacles { at reason detail } }
}`;

/** What an explanation does not name: who approved the run, and whose turn its session was in. */
export const BESIDE = `query Beside($run: String, $session: String, $at: DateTime) {
  engine { decisionPage(last: 9, filter: { runId: $run, kind: [RUN_APPROVED, RUN_DENIED] }) { nodes { kind at by } } }
  runs(first: 9, filter: { sessionId: $session, to: $at, state: [DELIVERED, RUNNING] }) { nodes { startedAt deliveredAt schedule { scheduleId label } } }
}`;

export const RUN = `query Run($schedule: ID!, $run: String) {
  schedule(scheduleId: $schedule) {
    ${NAME} message revision runs { id slot state reason cause phase attempt folded claimedAt startedAt deliveredAt finishedAt retryAt latenessMs
      host sessionId approvalDigest approval { message revision } error { message phase reason sessionExists }
      attempts { number state startedAt nextAt host channel code error { message reason } } message { id text taken } } }
  engine { decisionPage(last: 100, filter: { runId: $run }) { nodes { ${DECISION} } } }
}`;

const QUESTIONS = "openQuestions { runId sessionId address title kind details digest until }";
export const APPROVALS = `query Approvals { engine { heldRuns { ${APPROVAL} } ${QUESTIONS}
  decided: decisionPage(last: 10, filter: { kind: [RUN_APPROVED, RUN_DENIED] }) { nodes { ${DECISION} } }
  expired: decisionPage(last: 10, filter: { kind: [RUN_FAILED], reason: [APPROVAL_EXPIRED] }) { nodes { ${DECISION} } } } }`;

export const LANES = `query Lanes($first: Int!, $after: String) {
  sessions(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes {
    sessionId sessionName busy reception inboxCount pendingCount ${TURN} deliveryInFlight { ${NAME} } waiting { ${NAME} reason } } }
}`;

export const LANE = `query Lane($id: ID!) {
  session(sessionId: $id) {
    sessionId sessionName busy hosted host reception inboxCount pendingCount openedAt lastUserActivity scheduledFromScheduleId
    scheduledFromLabel model { provider id } thinkingLevel
    grant { right dialects depth cronOthers } agentSchedules { cron prompt } agentScheduleCount agentSchedulesSeenAt
    ${TURN} deliveryInFlight { ${NAME} fireAt openRun { slot } } waiting { ${NAME} fireAt reason openRun { slot } }
    inbox { id text label timestamp scheduleId } messages(last: 20) { id role text timestamp label scheduleId taken source }
    schedulePage(first: 50, orderBy: FIRE_AT, filter: { status: [PENDING, QUEUED, PAUSED] }) { totalCount nodes { ${LINE} } } }
}`;

export const SESSION_IDS = `query SessionIds { sessions(first: 200) { nodes { sessionId sessionName } } engine { localZone } }`;

export const OUTAGE = `query Outage($downFrom: DateTime!, $downUntil: DateTime!, $to: DateTime) {
  whatIf(downFrom: $downFrom, downUntil: $downUntil, to: $to, first: 500) { ${SLOT} }
}`;

export const EDIT_PREVIEW = `query EditPreview($id: ID!, $when: String, $zone: String, $to: DateTime) {
  whatIf(scheduleId: $id, when: $when, zone: $zone, to: $to, first: 40) { ${SLOT} }
}`;

export const DOCTOR = `query Doctor { engine {
  now version mode tzdbVersion zone localZone cursor ${OUTAGES} ${CHANNELS}
  imbalance nextWakeMs accounting { expected delivered left skipped cancelled failed lost pending } # for operators
  countedSince undelivered { skipped failed cancelled } guard { approvalMs asksMs rules { name then why } } # for operators
  limits { name value unit doc } } }`;

export const ATTRIBUTES = `query Attributes { attributes { ident entity type many nullable unit stability refersTo values doc } }`;

const ONE = `schedule { scheduleId status paused revision }`;
export const CANCEL = `mutation Cancel($id: ID!) { cancelSchedule(scheduleId: $id) { ${ONE} } }`;
export const PAUSE = `mutation Pause($id: ID!, $reason: String) { pauseSchedule(scheduleId: $id, reason: $reason) { ${ONE} } }`;
export const RESUME = `mutation Resume($id: ID!) { resumeSchedule(scheduleId: $id) { ${ONE} } }`;
export const RUN_NOW = `mutation RunNow($id: ID!) { runScheduleNow(scheduleId: $id) { ${ONE} } }`;
export const RETRY = `mutation Retry($id: ID!) { retrySchedule(scheduleId: $id) { ${ONE} } }`;
export const SKIP = `mutation Skip($id: ID!) { skipNextSlot(scheduleId: $id) { ${ONE} } }`;
export const MANY = `mutation Many($action: BulkAction!, $filter: ScheduleFilter, $expect: Int, $dry: Boolean, $reason: String) {
  changeSchedules(action: $action, filter: $filter, expectCount: $expect, dryRun: $dry, pauseReason: $reason) { matched changed unchanged } }`;
export const HOLD = `mutation Hold($reason: String) { holdAll(reason: $reason) { held { since } } }`;
export const RELEASE = `mutation Release { releaseAll { held { since } } }`;
export const APPROVE = `mutation Approve($id: ID!, $digest: String!) { approveRun(runId: $id, digest: $digest) { run { id state } } }`;
export const DENY = `mutation Deny($id: ID!, $reason: String, $digest: String) { denyRun(runId: $id, reason: $reason, digest: $digest) { run { id state } } }`;
export const TAKE = `mutation Take($id: ID!) { takeMessages(sessionId: $id, first: 100) { inboxCount taken { runId text } } }`;
const UNDERSTOOD = "understood { words zone next warnings }";
export const CREATE = `mutation Create($input: CreateScheduleInput!) { createSchedule(input: $input) { created ${ONE} ${UNDERSTOOD} } }`;
export const RESCHEDULE = `mutation Reschedule($input: RescheduleScheduleInput!) { rescheduleSchedule(input: $input) { ${ONE} ${UNDERSTOOD} } }`;
