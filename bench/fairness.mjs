// How long one user's gets take while another asks for ten times what there is: as many requests under way as their priority level has seats, times ten.
// The one is measured in a process of its own, one get after the other; the flood is another process (flood.mjs), its connections open all the time.
import { fork } from 'node:child_process';

const OVERLOAD = 10;
const ROUNDS = 7;
const GETS = 1500;
const WARM_UP_GETS = 10_000;
/** The flood's first burst is over, and all its places are taken. */
const SETTLE_MS = 300;
const RATIO_LIMIT = 3;
/** What the level `global-default` has of the server's 600 seats: 20 shares of 245 (src/apis/flowcontrol). */
const SEATS = 49;
const PATH = '/api/v1/namespaces/default/configmaps/one-0';

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** `load` is the quiet user's process. Idle and flooded rounds alternate, and the middle of each is told: the machine has others to serve. */
export async function fairness(server, load, { record, valueBytes }) {
  await allowBoth(load, valueBytes);
  const gets = (count, inFlight) => load.run('get', { path: PATH, version: 2, count, inFlight, token: server.tokens.quiet });
  const flood = fork(new URL('./flood.mjs', import.meta.url), [String(server.port), server.tokens.loud, PATH, String(OVERLOAD * SEATS)]);
  const heard = () => new Promise((resolve) => flood.once('message', resolve));
  try {
    await heard();
    await gets(WARM_UP_GETS, 64);
    const rounds = [];
    for (let i = 0; i <= ROUNDS; i++) rounds.push(await measureRound(gets, flood, heard));
    // The first still warms up.
    tell(rounds.slice(1), record);
  } finally {
    flood.kill();
  }
}

async function measureRound(gets, flood, heard) {
  const idle = await gets(GETS, 1);
  flood.send('go');
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const busy = await gets(GETS, 1);
  const told = heard();
  flood.send('stop');
  return { idle, busy, ...(await told) };
}

function tell(rounds, record) {
  const [idleP50, idleP99, busyP50, busyP99] = ['idle', 'busy'].flatMap((state) =>
    ['p50Ms', 'p99Ms'].map((part) => middle(rounds.map((round) => round[state][part]))),
  );
  const sum = (pick) => rounds.reduce((total, round) => total + pick(round), 0);
  const each = rounds.map(({ idle, busy }) => `${idle.p99Ms.toFixed(1)}→${busy.p99Ms.toFixed(1)}`).join(' ');
  record('a get of one user, nobody else there, p50', idleP50, 'ms');
  record('the same, p99', idleP99, 'ms');
  record('while another asks for 10 times what there is, p50', busyP50, 'ms');
  record('the same, p99', busyP99, 'ms');
  record('p50 of these, times the idle one', busyP50 / idleP50, '', RATIO_LIMIT);
  record('p99 of these, times the idle one', busyP99 / idleP99, '', RATIO_LIMIT, `ms by round: ${each}`);
  record(
    'requests of the other that were refused',
    sum(({ refused }) => refused),
    '',
    undefined,
    `${sum(({ answered }) => answered)} were served`,
  );
  record(
    'requests of the other without an answer',
    sum(({ sent, answered, refused }) => sent - answered - refused),
    '',
    0,
  );
}

async function allowBoth(load, valueBytes) {
  const one = { count: 1, inFlight: 1 };
  await load.run('create', { ...one, prefix: 'one-', valueBytes });
  const body = JSON.stringify({
    metadata: { name: '{{name}}' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'both' }],
  });
  await load.run('post', { ...one, path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', prefix: 'both-', body });
}
