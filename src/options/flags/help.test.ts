import { expect, test } from 'vitest';
import { flagsHelp } from './help.ts';

const isWrappable = (line: string): boolean => line.trim().includes(' ') && !line.trim().startsWith('-');
const section = (help: string, title: string): string => help.slice(help.indexOf(`\n${title} flags:`)).split(/\n\n(?=\w[\w ]* flags:)/)[0]!;

test('the sections stand in upstream order', () => {
  const titles = [...flagsHelp(0).matchAll(/^(\S.*) flags:$/gm)].map(([, title]) => title);
  expect(titles).toEqual([
    'Generic',
    'Etcd',
    'Secure serving',
    'Auditing',
    'Features',
    'Authentication',
    'Authorization',
    'API enablement',
    'Egress selector',
    'Admission',
    'Metrics',
    'Logs',
    'Traces',
    'Misc',
    'Binnacle',
    'Global',
  ]);
});

test('on a terminal the help of a flag stands wrapped below it', () => {
  expect(section(flagsHelp(80), 'Authorization')).toMatchInlineSnapshot(`
    "
    Authorization flags:

          --authorization-config string
                    File that configures the chain of authorizers, in place of
                    --authorization-mode and --authorization-webhook-*.
          --authorization-mode strings
                    Authorizers in order, comma separated: AlwaysAllow, AlwaysDeny,
                    ABAC, Webhook, RBAC, Node. Default: AlwaysAllow.
          --authorization-policy-file string
                    Policy of the ABAC authorizer, one JSON object a line.
          --authorization-webhook-cache-authorized-ttl duration
                    How long a yes of the webhook is remembered. (default 5m0s)
          --authorization-webhook-cache-unauthorized-ttl duration
                    How long a no of the webhook is remembered. (default 30s)
          --authorization-webhook-config-file string
                    Kubeconfig of the server that is asked.
          --authorization-webhook-version string
                    API version of the SubjectAccessReviews that it is sent.
                    (default "v1beta1")"
  `);
});

test('elsewhere a flag is one line', () => {
  expect(section(flagsHelp(0), 'Logs')).toMatchInlineSnapshot(`
    "
    Logs flags:

          --log-flush-frequency duration         Time between flushes of info lines, where they are buffered. (default 5s)
          --log-json-info-buffer-size quantity   Bytes of info lines to buffer, in JSON with split streams.
          --log-json-split-stream                In JSON, write errors to stderr and the rest to stdout. Needs the LoggingAlphaOptions feature.
          --log-text-info-buffer-size quantity   Bytes of info lines to buffer, in text with split streams.
          --log-text-split-stream                In text, write errors and warnings to stderr and the rest to stdout. Needs the LoggingAlphaOptions feature.
          --logging-format string                Form of the log: "text" or "json". (default "text")
      -v, --v Level                              How much to log; larger is more. From 4 on, errors come with their stacks.
          --vmodule pattern=N,...                Higher verbosities for some modules, as pattern=N, comma separated: httplog=3 logs requests. Modules: authentication, genericapiserver, healthz, httplog, server."
  `);
});

test('no line is wider than the terminal, but for words that are', () => {
  const lines = flagsHelp(80).split('\n');
  expect(lines.filter((line) => line.length > 80 && isWrappable(line))).toEqual([]);
});

test('hidden flags are not shown', () => {
  expect(flagsHelp(0)).not.toContain('--kubelet-port');
});
