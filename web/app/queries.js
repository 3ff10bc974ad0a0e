// Every question and every change of the pages. A test checks each against schema/reveille.graphql.
const NAME = "scheduleId label zone";
const LINE = `${NAME} kind status reason when fireAt nextFireAt originSessionId paused runCount failedCount failuresInRow
  skippedCount deliveredCount dialect durability message pause { by reason since } errorSummary { message }`;
const DECISION = `cursor at kind reason by detail scheduleId sessionId schedule { ${NAME} } run { id slot state latenessMs }`;
const SLOT = `slot at since count will reason rule runId scheduleId more schedule { ${NAME} originSessionId when }`;
const APPROVAL = `id slot sessionId schedule { ${NAME} when } approval {
  digest rule why until kind label owner madeBy editedBy message sessionId channel conversation thread target revision config
  description envelope cause dialect durability shared notice { about file { path name } } policy { backoffMs timeoutMs recovery }
  lineage { depth rootScheduleId runId } sessionConfig { sessionName model { provider id } toolCount skillCount } }
  lastApproved { runId at by changedAt differences { part before now } }`;
const MARK = `id slot state reason sessionId latenessMs schedule { ${NAME} }`;
const EXPLAINED = `explain { asked at slot sentence verdict reason by lateMs nextFireAt runId slots scheduleId
  down { from until } obstacles { at reason detail } }`;

/** What no schedule shows by itself: when the daemon was down, what that lost, holds that are over, and how the channels are. */
const OUTAGES = `downtimes { from until } pastHolds { by reason since until } lostSchedules { scheduleId label sessionId fireAt leftAt lostAt }`;
const CHANNELS = "channels { name kind goesTo agents disabledAt lastDeliveryAt lastFailureAt lastError lastCode }";

export const SHELL = `query Shell { engine { now version mode cursor held { by reason since } } }`;

/** The past does not know yet that the daemon was down, if it was. */
export const PRESENT_DOWNS = `query PresentDowns { engine { downtimes { from until } } }`;

export const NOW = `query Now($from: DateTime!, $until: DateTime!) {
  engine { now cursor imbalance held { by reason since } heldRuns { id slot approval { until label message rule } schedule { ${NAME} } } openQuestions { runId digest title until }
    ${OUTAGES} ${CHANNELS} accounting { expected delivered left skipped cancelled failed lost pending } }
  next: forecast(to: $until, first: 200) { ${SLOT} }
  failed: schedules(first: 8, orderBy: FIRE_AT_DESC, filter: { failing: true }) { totalCount nodes { ${LINE} runs { slot state } } }
  left: schedules(first: 8, orderBy: FIRE_AT_DESC, filter: { status: [LEFT] }) { totalCount nodes { ${LINE} } }
  overdue: schedules(first: 8, orderBy: FIRE_AT, filter: { status: [PENDING, QUEUED], dueBefore: $from }) { totalCount nodes { ${LINE} } }
  paused: schedules(first: 8, orderBy: FIRE_AT, filter: { status: [PAUSED] }) { totalCount nodes { ${LINE} } }
}`;

export const FEED = `subscription Feed($after: String) {
  events(after: $after) { cursor at kind reason by detail scheduleId sessionId lagged truncated schedule { ${NAME} } run { id slot state } }
}`;

/** The names of some schedules. */
export const names = (/** @type {string[]} */ ids) => `query Names { ${ids.map((id, at) => `a${at}: schedule(scheduleId: ${JSON.stringify(id)}) { ${NAME} }`).join(" ")} }`;

export const TIMELINE = `query Timeline($from: DateTime!, $now: DateTime!, $until: DateTime!, $bucketMs: Long!, $by: TimelineBy!, $to: DateTime!) {
  timeline(from: $from, to: $to, bucketMs: $bucketMs, by: $by) { start state count at of more }
  runs(first: 120, filter: { from: $from, to: $to }) { totalCount nodes { ${MARK} } }
  bad: runs(first: 60, filter: { from: $from, to: $to, state: [FAILED, LEFT, CANCELLED] }) { totalCount nodes { ${MARK} } }
  engine { downtimes { from until } held { since } pastHolds { since until }
    decisionPage(last: 60, filter: { kind: [SLOTS_SKIPPED], from: $from }) { nodes { at reason scheduleId slots { until count } schedule { ${NAME} } } } }
  forecast(from: $now, to: $until, first: 120) { slot at count will reason scheduleId more schedule { ${NAME} originSessionId } }
}`;

export const SCHEDULES = `query Schedules($first: Int!, $after: String, $filter: ScheduleFilter, $orderBy: ScheduleOrder) {
  schedules(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    totalCount nodes { ${LINE} } pageInfo { hasNextPage endCursor } }
}`;

export const SCHEDULE = `query Schedule($id: ID!) {
  schedule(scheduleId: $id) {
    ${LINE} createdAt updatedAt description madeBy editedBy revision idempotencyKey shared envelope endedReason
    upcoming(first: 10)
    policy { whenBusy missed overlap recovery endsWith backoffMs maxLateMs timeoutMs }
    lifetime { expiresAt maxRuns cancelOnUserActivity diesWithSession }
    target { kind sessionId channel conversation thread } lineage { depth rootScheduleId runId } lastSkip { at reason }
    createdSessionId runs { id slot state reason cause attempt claimedAt startedAt deliveredAt finishedAt latenessMs host }
    ${EXPLAINED}
  }
}`;

export const DECISIONS = `query Decisions($filter: DecisionFilter, $last: Int!, $before: String) {
  engine { decisionPage(last: $last, before: $before, filter: $filter) {
    totalCount nodes { ${DECISION} } } }
}`;

export const EXPLAIN = `query Explain($id: ID!, $at: DateTime) {
  schedule(scheduleId: $id) { ${NAME} when status upcoming(first: 3) runs { id slot state reason } lastSkip { at reason } }
  explain(scheduleId: $id, at: $at) { asked at slot sentence verdict reason by lateMs nextFireAt runId slots scheduleId
    down { from until } obstacles { at reason detail } }
}`;

export const RUN = `query Run($schedule: ID!, $run: String) {
  schedule(scheduleId: $schedule) {
    ${NAME} when message kind policy { whenBusy missed overlap recovery endsWith backoffMs timeoutMs }
    runs { id slot state reason cause phase attempt folded claimedAt startedAt deliveredAt finishedAt retryAt latenessMs
      host sessionId approvalDigest error { message phase reason sessionExists }
      attempts { number state startedAt nextAt host channel code error { message reason } } message { id text role taken timestamp } } }
  engine { decisionPage(last: 100, filter: { runId: $run }) { nodes { ${DECISION} } } }
}`;

const QUESTIONS = "openQuestions { runId sessionId address title kind details digest until }";
export const APPROVALS = `query Approvals { engine { now heldRuns { ${APPROVAL} } ${QUESTIONS} guard { approvalMs asksMs } } }`;

export const LANES = `query Lanes($first: Int!, $after: String) {
  sessions(first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes {
    sessionId sessionName busy hosted host reception inboxCount pendingCount openedAt lastUserActivity
    deliveryInFlight { ${NAME} } waiting { ${NAME} reason } } }
}`;

export const LANE = `query Lane($id: ID!) {
  session(sessionId: $id) {
    sessionId sessionName busy hosted host reception inboxCount pendingCount openedAt lastUserActivity scheduledFromScheduleId
    scheduledFromLabel model { provider id } thinkingLevel
    grant { right dialects depth cronOthers } agentSchedules { cron prompt } agentScheduleCount agentSchedulesSeenAt
    deliveryInFlight { ${NAME} fireAt runs { slot state } } waiting { ${NAME} fireAt reason runs { slot state } }
    inbox { id text label timestamp scheduleId } messages(last: 20) { id role text timestamp label scheduleId taken source }
    schedulePage(first: 50, orderBy: FIRE_AT, filter: { status: [PENDING, QUEUED, PAUSED] }) { totalCount nodes { ${LINE} } } }
}`;

export const SESSION_IDS = `query SessionIds { sessions(first: 200) { nodes { sessionId sessionName } } engine { localZone } }`;

export const OUTAGE = `query Outage($downFrom: DateTime!, $downUntil: DateTime!, $to: DateTime) {
  whatIf(downFrom: $downFrom, downUntil: $downUntil, to: $to, first: 500) { ${SLOT} asIs { at will reason } }
}`;

export const EDIT_PREVIEW = `query EditPreview($id: ID!, $when: String, $zone: String, $to: DateTime) {
  whatIf(scheduleId: $id, when: $when, zone: $zone, to: $to, first: 40) { ${SLOT} asIs { at will reason } }
}`;

export const DOCTOR = `query Doctor { engine {
  now version mode imbalance nextWakeMs tzdbVersion zone localZone cursor held { by reason since } ${OUTAGES}
  accounting { expected delivered left skipped cancelled failed lost pending }
  countedSince undelivered { skipped failed cancelled } ${CHANNELS}
  guard { approvalMs asksMs rules { name then why } }
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
export const HOLD = `mutation Hold($reason: String) { holdAll(reason: $reason) { held { by reason since } } }`;
export const RELEASE = `mutation Release { releaseAll { held { since } } }`;
export const APPROVE = `mutation Approve($id: ID!, $digest: String!) { approveRun(runId: $id, digest: $digest) { run { id state } } }`;
export const DENY = `mutation Deny($id: ID!, $reason: String, $digest: String) { denyRun(runId: $id, reason: $reason, digest: $digest) { run { id state } } }`;
export const TAKE = `mutation Take($id: ID!) { takeMessages(sessionId: $id, first: 100) { inboxCount taken { runId text } } }`;
const UNDERSTOOD = "understood { words zone next warnings }";
export const CREATE = `mutation Create($input: CreateScheduleInput!) { createSchedule(input: $input) { created ${ONE} ${UNDERSTOOD} } }`;
export const RESCHEDULE = `mutation Reschedule($input: RescheduleScheduleInput!) { rescheduleSchedule(input: $input) { ${ONE} ${UNDERSTOOD} } }`;
