import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parsePath } from '../api/resource-path.ts';
import { messageOf } from '../api/status.ts';
import { CodeBadge } from '../components/code-badge.tsx';
import { ExplainedSteps } from '../components/explained-steps.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { commandLine } from '../objects/kubectl.ts';
import { type ExplainRequest, type ExplainedStep, type Explanation, parseRequestLine } from '../server/explanation.ts';
import { useApp, usernameOf } from '../state/app.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Sends a request as a dry run and shows what each step of the server made of it. */
export function ExplainView() {
  const app = useApp();
  const { client, pendingExplanation } = app;
  const method = useSignal('POST');
  const path = useSignal('/api/v1/namespaces/default/pods');
  const query = useSignal('');
  const body = useSignal('');
  const asUser = useSignal('');
  const said = useSignal('');
  const answer = useSignal<Explanation | undefined>(undefined);
  const error = useSignal('');
  const isBusy = useSignal(false);
  const username = usernameOf(app);

  const explain = async (): Promise<void> => {
    isBusy.value = true;
    error.value = '';
    answer.value = undefined;
    const request: ExplainRequest = {
      method: method.value,
      path: path.value.trim(),
      ...(query.value !== '' && { query: query.value }),
      ...(body.value.trim() !== '' && { body: body.value, contentType: method.value === 'PATCH' ? 'application/merge-patch+json' : 'application/yaml' }),
      ...(asUser.value.trim() !== '' && asUser.value.trim() !== username && { asUser: asUser.value.trim() }),
    };
    try {
      answer.value = await client.json<Explanation>('/console/explain', { method: 'POST', body: request });
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isBusy.value = false;
  };
  useEffect(() => {
    const pending = pendingExplanation.value;
    if (pending === undefined) return;
    pendingExplanation.value = undefined;
    method.value = pending.method;
    path.value = pending.path;
    query.value = pending.query ?? '';
    body.value = pending.body ?? '';
    asUser.value = pending.asUser ?? '';
    said.value = pending.message ?? '';
    // A write of which the body is not known would be refused for want of it.
    if (pending.body !== undefined || ['GET', 'DELETE'].includes(pending.method)) void explain();
  }, []);
  const paste = (event: ClipboardEvent): void => {
    const parsed = parseRequestLine(event.clipboardData?.getData('text') ?? '');
    if (parsed === undefined) return;
    event.preventDefault();
    method.value = parsed.method;
    path.value = parsed.path;
    query.value = parsed.query;
  };
  const needsBody = ['POST', 'PUT', 'PATCH'].includes(method.value);
  return (
    <div class="view">
      <div class="scroll">
        <div class="toolbar">
          <h1>Why was it refused?</h1>
          <span class="muted">The request is sent as a dry run: every step looks at it, and nothing is stored.</span>
        </div>
        {said.value !== '' && (
          <div class="notice error">
            <p>The server's answer was: {said.value}</p>
            {needsBody && body.value === '' && <p>Paste the object below to see which step refused it, and why.</p>}
          </div>
        )}
        <div class="explain">
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void explain();
            }}
          >
            <div class="explain-line">
              <label>
                Method
                <select value={method.value} onChange={(event) => (method.value = event.currentTarget.value)}>
                  {METHODS.map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
              <label class="wide">
                Path, or a request line to paste
                <input id="search" value={path.value} spellcheck={false} onInput={(event) => (path.value = event.currentTarget.value)} onPaste={paste} />
              </label>
            </div>
            <div class="explain-line">
              <label class="wide">
                Query
                <input
                  value={query.value}
                  placeholder="labelSelector=app=web"
                  spellcheck={false}
                  onInput={(event) => (query.value = event.currentTarget.value)}
                />
              </label>
              <label>
                As user
                <input value={asUser.value} placeholder={username} spellcheck={false} onInput={(event) => (asUser.value = event.currentTarget.value)} />
              </label>
            </div>
            {needsBody && (
              <label>
                Body, as YAML or JSON
                <textarea rows={16} spellcheck={false} value={body.value} onInput={(event) => (body.value = event.currentTarget.value)} />
              </label>
            )}
            <button type="submit" class="primary" disabled={isBusy.value}>
              {isBusy.value ? 'Asking…' : 'Explain'}
            </button>
          </form>
          <section class="explanation" aria-label="What each step said" aria-live="polite">
            {error.value !== '' && (
              <p class="notice error" role="alert">
                {error.value}
              </p>
            )}
            {answer.value && (
              <>
                <p class="verdict">
                  <CodeBadge code={answer.value.response.code} /> {verdictOf(answer.value)}
                </p>
                {refusalOf(answer.value) !== undefined && <p class="refusal">{refusalOf(answer.value)}</p>}
                <ExplainedSteps steps={answer.value.steps} />
              </>
            )}
            {answer.value === undefined && error.value === '' && (
              <p class="muted">Each step is shown here with its result: authentication, authorization, admission, validation.</p>
            )}
          </section>
        </div>
      </div>
      <KubectlLine command={commandFor(method.value, path.value, asUser.value === username ? '' : asUser.value)} />
    </div>
  );
}

/** What the step that refused it said. */
const refusalOf = ({ steps }: Explanation): string | undefined => steps.find(isRefusing)?.message;

const isRefusing = ({ result }: ExplainedStep): boolean => result === 'denied' || result === 'failed';

function verdictOf({ steps, response }: Explanation): string {
  const refusing = steps.find(isRefusing);
  if (refusing === undefined) return response.code < 400 ? 'The server would do it.' : 'No step refused it, and yet it was not done.';
  return `Refused in ${refusing.name}${refusing.plugin === undefined ? '' : ` by ${refusing.plugin}`}.`;
}

function commandFor(method: string, path: string, asUser: string): string {
  const as = asUser === '' ? [] : ['--as', asUser];
  if (method === 'GET') return commandLine('get', '--raw', path, ...as);
  if (method === 'DELETE') return commandLine('delete', '--raw', path, ...as);
  const namespace = parsePath(path)?.namespace;
  const scope = namespace === undefined ? [] : ['-n', namespace];
  return commandLine(method === 'POST' ? 'create' : 'replace', ...scope, '--dry-run=server', '-v=8', '-f', 'object.yaml', ...as);
}
