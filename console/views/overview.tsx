import { useEffect } from 'preact/hooks';
import { CodeBadge } from '../components/code-badge.tsx';
import { DataTable } from '../components/data-table.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { RecentChanges } from '../components/recent-changes.tsx';
import { WarningEvents } from '../components/warning-events.tsx';
import { WhyButton } from '../components/why-button.tsx';
import { formatPath } from '../api/resource-path.ts';
import { type RequestRecord, isOwnRequest, shortAgent } from '../server/activity.ts';
import { hasHistory, useApp, usernameOf } from '../state/app.ts';

const SHOWN = 8;

/** Where people begin: what is there, what goes wrong, who is busy, and where to look further. */
export function Overview() {
  const app = useApp();
  const { activity, requestLog } = app;
  useEffect(() => activity.follow(), []);
  useEffect(() => requestLog.follow(), []);
  return (
    <div class="view">
      <div class="scroll">
        <div class="toolbar">
          <h1>Overview</h1>
        </div>
        <div class="cards">
          <RefusedRequests />
          <BusyClients />
          <WarningEvents />
          {hasHistory(app) && <RecentChanges />}
          <ObjectCounts />
        </div>
      </div>
      <KubectlLine command="kubectl api-resources && kubectl get events -A --field-selector type=Warning" />
    </div>
  );
}

const sameness = ({ code, user, method, path }: RequestRecord): string => `${code} ${user} ${method} ${path}`;

function RefusedRequests() {
  const app = useApp();
  const { requestLog } = app;
  const records = requestLog.version.value >= 0 ? requestLog.records : [];
  const isRefused = (record: RequestRecord): boolean => record.code >= 400 && record.code !== 404 && !isOwnRequest(record, usernameOf(app));
  // Clients ask again and again: the latest of each stands for all.
  const distinct = new Map(records.filter(isRefused).map((record) => [sameness(record), record]));
  const refused = [...distinct.values()].slice(-SHOWN).toReversed();
  return (
    <DataTable<RequestRecord>
      title="Refused and failed requests"
      rows={refused}
      empty="None since somebody signed in to the console."
      keyOf={sameness}
      columns={[
        { name: 'Code', of: ({ code }) => <CodeBadge code={code} /> },
        {
          name: 'Request',
          isLong: true,
          of: ({ verb, path, message }) => (
            <>
              <span title={path}>{`${verb} ${path}`}</span>
              {message !== undefined && <div class="muted">{message}</div>}
            </>
          ),
        },
        { name: 'User', of: ({ user }) => user },
        { name: 'Why', of: (record) => <WhyButton record={record} /> },
      ]}
    />
  );
}

function BusyClients() {
  const { activity } = useApp();
  const clients = [...(activity.latest.value?.clients ?? [])].sort((a, b) => b.requests - a.requests).slice(0, SHOWN);
  return (
    <DataTable
      title="Clients with the most requests"
      rows={clients}
      empty={activity.error.value === undefined ? 'None yet.' : 'You may not see what the server is doing.'}
      keyOf={({ user, userAgent }) => `${user} ${userAgent}`}
      columns={[
        { name: 'User', of: ({ user }) => user },
        { name: 'Client', of: ({ userAgent }) => <span title={userAgent}>{shortAgent(userAgent)}</span> },
        { name: 'Requests', isNumber: true, of: ({ requests }) => requests.toLocaleString('en') },
        { name: 'Errors', isNumber: true, of: ({ errors }) => errors.toLocaleString('en') },
      ]}
    />
  );
}

function ObjectCounts() {
  const { activity, discovery } = useApp();
  const counts = (activity.latest.value?.store.objects ?? []).filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  if (counts.length === 0) return null;
  return (
    <section class="card">
      <h2>Objects</h2>
      <ul class="counts">
        {counts.map(({ resource: plural, group, count }) => {
          const resource = discovery.value?.find(group, plural);
          const label = (
            <>
              <strong>{count.toLocaleString('en')}</strong> {plural}
            </>
          );
          return (
            <li key={`${plural}.${group}`}>
              {resource === undefined ? <span>{label}</span> : <a href={`#${formatPath({ group, version: resource.version, plural })}`}>{label}</a>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
