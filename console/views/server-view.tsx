import { useEffect } from 'preact/hooks';
import { Chart } from '../components/chart.tsx';
import { CodeBadge } from '../components/code-badge.tsx';
import { DataTable } from '../components/data-table.tsx';
import { HealthChecks } from '../components/health-checks.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { Refused } from '../components/refused.tsx';
import { useNow } from '../components/use-now.ts';
import { type Activity, type RequestRecord, shortAgent } from '../server/activity.ts';
import { formatBytes, formatMs, secondsOf } from '../server/series.ts';
import { MAX_SAMPLES } from '../state/activity-feed.ts';
import { useApp } from '../state/app.ts';
import { formatAge } from '../table/age.ts';

const SLOWEST = 12;
const MEBIBYTE = 2 ** 20;

/** What the server is doing: rates and latencies, who asks for what, what waits, what memory and the store take. */
export function ServerView() {
  const { activity, requestLog } = useApp();
  useEffect(() => activity.follow(), []);
  useEffect(() => requestLog.follow(), []);
  const latest = activity.latest.value;
  return (
    <div class="view">
      <div class="scroll">
        <div class="toolbar">
          <h1>Server</h1>
          {latest && (
            <span class="muted">
              up for {formatAge(latest.uptimeSeconds * 1_000)}, store {latest.store.backend}
              {latest.store.sizeBytes !== undefined && `, ${formatBytes(latest.store.sizeBytes)}`}
            </span>
          )}
        </div>
        {activity.error.value !== undefined && <Refused error={activity.error.value} />}
        {latest && (
          <>
            <Charts />
            <ActivityTables activity={latest} />
          </>
        )}
        <div class="cards">
          <HealthChecks />
        </div>
      </div>
      <KubectlLine command="kubectl get --raw /console/activity" />
    </div>
  );
}

function Charts() {
  const { activity, requestLog } = useApp();
  const nowMs = useNow();
  const samples = activity.samples.value;
  const seconds = requestLog.version.value >= 0 ? secondsOf(requestLog.records, nowMs, MAX_SAMPLES) : [];
  const perSecond = (value: number): string => `${value.toFixed(0)}/s`;
  return (
    <div class="charts">
      <Chart
        title="Requests"
        format={perSecond}
        series={[
          { name: 'answered', values: seconds.map(({ succeeded }) => succeeded) },
          { name: 'failed', values: seconds.map(({ failed }) => failed) },
          { name: 'refused', values: seconds.map(({ refused }) => refused) },
        ]}
      />
      <Chart
        title="Latency"
        format={formatMs}
        series={[
          { name: 'median', values: seconds.map(({ p50Ms }) => p50Ms) },
          { name: '99 %', values: seconds.map(({ p99Ms }) => p99Ms) },
        ]}
      />
      <Chart
        title="Event loop"
        format={formatMs}
        series={[
          { name: '99 %', values: samples.map(({ loopP99Ms }) => loopP99Ms) },
          { name: 'longest', values: samples.map(({ loopMaxMs }) => loopMaxMs) },
        ]}
      />
      <Chart
        title="Memory"
        format={formatBytes}
        unit={MEBIBYTE}
        series={[
          { name: 'heap', values: samples.map(({ heapUsedBytes }) => heapUsedBytes) },
          { name: 'resident', values: samples.map(({ rssBytes }) => rssBytes) },
        ]}
      />
      <Chart title="CPU" format={(value) => `${value.toFixed(0)} %`} series={[{ name: 'of one core', values: samples.map(({ cpuPercent }) => cpuPercent) }]} />
      <Chart title="In flight" format={(value) => value.toFixed(0)} series={[{ name: 'requests', values: samples.map(({ inFlight }) => inFlight) }]} />
    </div>
  );
}

function ActivityTables({ activity }: { activity: Activity }) {
  const nowMs = useNow();
  const clients = [...activity.clients].sort((a, b) => b.requests - a.requests);
  const watches = [...activity.watches].sort((a, b) => b.count - a.count);
  return (
    <div class="cards">
      <DataTable
        title="Clients with the most requests"
        rows={clients}
        keyOf={({ user, userAgent }) => `${user} ${userAgent}`}
        columns={[
          { name: 'User', of: ({ user }) => user },
          { name: 'Client', of: ({ userAgent }) => <span title={userAgent}>{shortAgent(userAgent)}</span> },
          { name: 'Requests', isNumber: true, of: ({ requests }) => requests.toLocaleString('en') },
          { name: 'Errors', isNumber: true, of: ({ errors }) => errors.toLocaleString('en') },
          { name: 'Last seen', of: ({ lastSeen }) => `${formatAge(nowMs - Date.parse(lastSeen))} ago` },
        ]}
      />
      <SlowestRequests />
      <DataTable
        title="Watches by client"
        rows={watches}
        keyOf={({ user, userAgent, group, resource }) => `${user} ${userAgent} ${group} ${resource}`}
        columns={[
          { name: 'User', of: ({ user }) => user },
          { name: 'Client', of: ({ userAgent }) => <span title={userAgent}>{shortAgent(userAgent)}</span> },
          { name: 'Resource', of: ({ resource, group }) => (group === '' ? resource : `${resource}.${group}`) },
          { name: 'Watches', isNumber: true, of: ({ count }) => count },
        ]}
      />
      <DataTable
        title="Priority levels and queues"
        rows={activity.priorityLevels}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Level', of: ({ name }) => name },
          { name: 'Seats used', isNumber: true, of: ({ seats, limit }) => `${seats} of ${limit}` },
          { name: 'Executing', isNumber: true, of: ({ executing }) => executing },
          { name: 'Queued', isNumber: true, of: ({ queued }) => queued },
          { name: 'Rejected', isNumber: true, of: ({ rejected }) => rejected },
        ]}
      />
      <DataTable
        title="Objects in the store"
        rows={[...activity.store.objects].sort((a, b) => b.count - a.count)}
        keyOf={({ resource, group }) => `${resource}.${group}`}
        columns={[
          { name: 'Resource', of: ({ resource, group }) => (group === '' ? resource : `${resource}.${group}`) },
          { name: 'Objects', isNumber: true, of: ({ count }) => count.toLocaleString('en') },
        ]}
      />
      <DataTable
        title="Webhooks"
        rows={activity.webhooks}
        keyOf={({ name, type }) => `${name} ${type}`}
        empty="No webhook was called."
        columns={[
          { name: 'Webhook', of: ({ name }) => name },
          { name: 'Type', of: ({ type }) => type },
          { name: 'Answered', isNumber: true, of: ({ answered }) => answered },
          { name: 'Refused', isNumber: true, of: ({ refused }) => refused },
          { name: 'Failed', isNumber: true, of: ({ failed }) => failed },
          { name: 'Median', isNumber: true, of: ({ p50Ms }) => formatMs(p50Ms) },
        ]}
      />
      <DataTable
        title="Admission policies"
        rows={activity.policies}
        keyOf={({ name, type }) => `${name} ${type}`}
        empty="No policy was evaluated."
        columns={[
          { name: 'Policy', of: ({ name }) => name },
          { name: 'Type', of: ({ type }) => type },
          { name: 'Evaluated', isNumber: true, of: ({ evaluated }) => evaluated },
          { name: 'Refused', isNumber: true, of: ({ refused }) => refused },
          { name: 'Failed', isNumber: true, of: ({ failed }) => failed },
        ]}
      />
    </div>
  );
}

function SlowestRequests() {
  const { requestLog } = useApp();
  const records = requestLog.version.value >= 0 ? requestLog.records : [];
  const slowest = records
    .filter(({ isWatch }) => !isWatch)
    .sort((a, b) => b.durationMs - a.durationMs)
    .slice(0, SLOWEST);
  return (
    <DataTable<RequestRecord>
      title="Slowest requests"
      hint={`Of the last ${records.length.toLocaleString('en')}.`}
      rows={slowest}
      keyOf={({ auditID, time }) => `${auditID} ${time}`}
      columns={[
        { name: 'Took', isNumber: true, of: ({ durationMs }) => formatMs(durationMs) },
        { name: 'Code', of: ({ code }) => <CodeBadge code={code} /> },
        { name: 'Request', isLong: true, of: ({ verb, path }) => <span title={path}>{`${verb} ${path}`}</span> },
        { name: 'User', of: ({ user }) => user },
      ]}
    />
  );
}
