import { flag, flagSet } from './flag.ts';
import { CONTROLLER_NAMES } from '../../controllers/names.ts';
import { bool, duration, file, int, string, strings } from './types.ts';

/** What kube-apiserver has no flag for. */
export const binnacle = flagSet('Binnacle', {
  'basic-auth-file': flag(
    file,
    'CSV file of passwords: password,user,uid,"group1,group2". Prefer tokens or certificates: a password goes along with every request.',
  ),
  console: flag(
    bool,
    'Serves a page at /console/ that shows the API server live. `binnacle up` does, and prints a link that signs in. Not with --workers. See docs/console.md.',
  ),
  controllers: flag(
    strings,
    `Controllers to run in this process, for a cluster that has no kube-controller-manager: names, '*' for all, -name for all but that one. \`binnacle up\` runs all.
Controllers: ${CONTROLLER_NAMES.join(', ')}.`,
  ),
  'data-dir': flag(string, 'Folder of the embedded store, and of the keys and certificates that the server makes for itself.', { default: '.binnacle' }),
  'fault-config-file': flag(
    file,
    'For tests of clients: YAML or JSON file of rules by which requests are delayed, refused or cut off, and watches end, expire or go silent. See docs/testing.md.',
  ),
  'heap-limit-mib': flag(
    int,
    'With --supervised: how large the heap of JavaScript objects may become before V8 ends the server process, which is then started again. 0 leaves it to Node, which takes half of the memory of the machine, and 4 GiB at the most.',
  ),
  history: flag(
    string,
    'Keeps every version of every object, with who made it, for so long (24h), up to so many bytes (256Mi), or both (24h,256Mi): see docs/history.md. Empty for no history, as by default; `binnacle up` keeps 24h,64Mi.',
  ),
  'history-exclude': flag(strings, 'Resources of which no history is kept: resource.group, or the resource alone for the core group.', {
    default: ['leases.coordination.k8s.io', 'events'],
  }),
  'history-secrets': flag(
    string,
    'What the history keeps of the values in Secrets: keys (only which of them changed), hashed (hashes, by which equal values can be told), or encrypted (with the provider that --encryption-provider-config has for secrets).',
    { default: 'keys' },
  ),
  'livez-stall-limit': flag(
    duration,
    'The check event-loop of /livez, /healthz and /readyz fails for half a minute after the event loop has stood still for longer than this. 0 for no such check.',
  ),
  'memory-limit-mib': flag(int, 'With --supervised: the server process is ended, and started again, when its resident memory is larger. 0 for no limit.'),
  'root-ca-file': flag(
    file,
    'Certificates that the root-ca-certificate-publisher-controller gives to pods. Default: the authority of --client-ca-file that signed the serving certificate, or else that certificate.',
  ),
  'stall-kill-after': flag(duration, 'With --supervised: the server process is ended, and started again, when its event loop has stood still for so long.', {
    default: 30_000,
  }),
  'stall-report-after': flag(
    duration,
    'With --supervised: when the event loop of the server has stood still for so long, its stack and the request that it is at work on are logged.',
    { default: 1_000 },
  ),
  supervised: flag(
    bool,
    'Runs the server in a process of its own, watched by this one, which reports when it stands still and starts it again when it dies. A request that has ended it twice is refused from then on.',
  ),
  workers: flag(
    string,
    'How many processes serve requests, each a whole API server on one store that this process keeps: a number, or auto for one a core. By default this process serves them itself.',
  ),
});
