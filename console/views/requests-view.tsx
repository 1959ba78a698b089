import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CodeBadge } from '../components/code-badge.tsx';
import { SearchField } from '../components/search-field.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { Refused } from '../components/refused.tsx';
import { WhyButton } from '../components/why-button.tsx';
import { type RequestRecord, isOwnRequest, shortAgent } from '../server/activity.ts';
import { formatMs } from '../server/series.ts';
import { useApp, usernameOf } from '../state/app.ts';

const MAX_SHOWN = 300;

/** Requests as they come: who, what, how long, and with what answer. */
export function RequestsView() {
  const app = useApp();
  const { requestLog, router } = app;
  const isPaused = useSignal(false);
  const frozen = useSignal<readonly RequestRecord[]>([]);
  useEffect(() => requestLog.follow(), []);
  const { query } = router.route.value;
  const search = (query.get('search') ?? '').toLowerCase();
  const onlyErrors = query.has('errors');
  const withOwn = query.has('own');
  const username = usernameOf(app);
  const all = isPaused.value ? frozen.value : requestLog.version.value >= 0 ? requestLog.records : [];
  const shown = all
    .filter((record) => (!onlyErrors || record.code >= 400) && (withOwn || !isOwnRequest(record, username)) && matches(record, search))
    .slice(-MAX_SHOWN)
    .toReversed();
  const pause = (): void => {
    frozen.value = requestLog.records.slice();
    isPaused.value = !isPaused.value;
  };
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Requests</h1>
        <span class={`live state-${isPaused.value ? 'past' : 'live'}`} role="status">
          {isPaused.value ? 'Paused' : 'Live'}
        </span>
        {requestLog.dropped.value > 0 && <span class="muted">{requestLog.dropped.value.toLocaleString('en')} were too fast to show</span>}
        <span class="spacer" />
        <SearchField label="Search in the requests" placeholder="User, path, client  /" />
        <label class="check">
          <input type="checkbox" checked={onlyErrors} onChange={(event) => router.setQuery({ errors: event.currentTarget.checked ? '1' : '' })} />
          Only refused and failed
        </label>
        <label class="check">
          <input type="checkbox" checked={withOwn} onChange={(event) => router.setQuery({ own: event.currentTarget.checked ? '1' : '' })} />
          Include the console's own
        </label>
        <button type="button" onClick={pause}>
          {isPaused.value ? 'Go on' : 'Pause'}
        </button>
      </div>
      {requestLog.error.value !== undefined && <Refused error={requestLog.error.value} />}
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Requests">
        <table class="requests">
          <thead>
            <tr>
              {['Time', 'Code', 'Took', 'Verb', 'Path', 'User', 'Client', ''].map((name) => (
                <th key={name} scope="col">
                  {name === '' ? <span class="visually-hidden">Explanation</span> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((record) => (
              <RequestRow key={`${record.auditID}${record.isRunning}`} record={record} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p class="loading">No request has come that is shown here. Requests are recorded while somebody is signed in to the console.</p>}
      </div>
      <KubectlLine command="kubectl get --raw '/console/requests?watch=true'" />
    </div>
  );
}

const matches = ({ user, path, userAgent, verb, code, message = '' }: RequestRecord, search: string): boolean =>
  search === '' || `${user} ${path} ${userAgent} ${verb} ${code} ${message}`.toLowerCase().includes(search);

function RequestRow({ record }: { record: RequestRecord }) {
  const { time, code, durationMs, verb, path, query = '', user, userAgent, isRunning, message } = record;
  return (
    <tr class={code >= 400 ? 'error-row' : undefined}>
      <td>{time.slice(11, 23)}</td>
      <td>
        <CodeBadge code={code} />
      </td>
      <td class="number">{isRunning ? 'running' : formatMs(durationMs)}</td>
      <td>{verb}</td>
      <td title={query === '' ? path : `${path}?${query}`}>
        <code>{path}</code>
        {message !== undefined && <span class="muted"> {message}</span>}
      </td>
      <td title={user}>{user}</td>
      <td title={userAgent}>{shortAgent(userAgent)}</td>
      <td>{code >= 400 && <WhyButton record={record} />}</td>
    </tr>
  );
}
