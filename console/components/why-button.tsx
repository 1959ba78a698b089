import type { RequestRecord } from '../server/activity.ts';
import { useApp } from '../state/app.ts';

/** Leads to the view that explains a request. */
export function WhyButton({ record: { method, path, query = '', user, message } }: { record: RequestRecord }) {
  const app = useApp();
  return (
    <button type="button" onClick={() => app.explain({ method, path, query, asUser: user, ...(message !== undefined && { message }) })}>
      Why?
    </button>
  );
}
