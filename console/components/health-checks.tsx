import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isAborted, messageOf } from '../api/status.ts';
import { parseChecks, type HealthCheck } from '../server/health.ts';
import { useApp } from '../state/app.ts';

const ENDPOINTS = ['readyz', 'livez'] as const;
const INTERVAL_MS = 5_000;

/** The API's own health checks, by name. */
export function HealthChecks() {
  return (
    <>
      {ENDPOINTS.map((endpoint) => (
        <Endpoint key={endpoint} endpoint={endpoint} />
      ))}
    </>
  );
}

function Endpoint({ endpoint }: { endpoint: (typeof ENDPOINTS)[number] }) {
  const { client } = useApp();
  const checks = useSignal<HealthCheck[] | undefined>(undefined);
  const error = useSignal('');
  useEffect(() => {
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const response = await client.send(`/${endpoint}`, { query: { verbose: 'true' }, accept: '*/*', signal: stop.signal });
        if (response.status === 403) throw new Error('You may not see it.');
        checks.value = parseChecks(await response.text());
      } catch (reason) {
        if (!isAborted(reason)) error.value = messageOf(reason);
      }
    };
    void ask();
    const timer = setInterval(() => void ask(), INTERVAL_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [endpoint]);
  const failed = checks.value?.filter(({ isOk }) => !isOk) ?? [];
  return (
    <section class="card">
      <h2>
        <span class={`dot ${failed.length > 0 || error.value !== '' ? 'bad' : 'good'}`} aria-hidden="true" />
        {endpoint}:{' '}
        {error.value !== ''
          ? error.value
          : checks.value === undefined
            ? 'asking…'
            : failed.length === 0
              ? `all ${checks.value.length} checks pass`
              : `${failed.length} failed`}
      </h2>
      <ul class="checks">
        {(checks.value ?? []).map(({ name, isOk, detail }) => (
          <li key={name} class={isOk ? undefined : 'failed'}>
            {isOk ? '✓' : '✗'} {name}
            {detail !== '' && `: ${detail}`}
          </li>
        ))}
      </ul>
      <p class="muted">
        <code>kubectl get --raw '/{endpoint}?verbose'</code>
      </p>
    </section>
  );
}
