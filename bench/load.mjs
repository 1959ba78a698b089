// The other side, in a process of its own: keeps so many requests in flight and says how long each took.
import http2 from 'node:http2';
import https from 'node:https';

const send = (message) => process.send(message);
process.on('message', async ({ task, options }) => send(await TASKS[task](options)));
process.on('disconnect', () => process.exit(0));

const headersOf = (token) => ({ authorization: `Bearer ${token}`, accept: 'application/json' });

/** Runs `count` requests made by `request(i)`, `inFlight` at a time; answers with their times. */
async function drive({ count, inFlight }, request) {
  const timesMs = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const i = next++;
        const startMs = performance.now();
        await request(i);
        timesMs.push(performance.now() - startMs);
      }
    }),
  );
  timesMs.sort((a, b) => a - b);
  return { p50Ms: timesMs[timesMs.length >> 1], p99Ms: timesMs[Math.floor(timesMs.length * 0.99)] };
}

const connect = (port) => http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: { initialWindowSize: 16 << 20 } }).on('error', () => {});

function http2Request(session, token, path, method = 'GET', body) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, ...headersOf(token), ...(body && { 'content-type': 'application/json' }) }, { endStream: !body });
    let status = 0;
    let sizeBytes = 0;
    stream.on('response', (headers) => (status = headers[':status']));
    stream.on('data', (chunk) => (sizeBytes += chunk.length));
    stream.on('end', () => (status < 300 ? resolve(sizeBytes) : reject(new Error(`${method} ${path}: ${status}`))));
    stream.on('error', reject);
    if (body) stream.end(body);
  });
}

function http1Request(agent, port, token, path) {
  return new Promise((resolve, reject) => {
    https.get({ agent, host: '127.0.0.1', port, path, headers: headersOf(token) }, (response) => response.on('data', () => {}).on('end', resolve)).on('error', reject);
  });
}

const configMap = (name, sizeBytes) => JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, labels: { app: 'bench' } }, data: { value: 'x'.repeat(sizeBytes) } });

const TASKS = {
  async get({ port, token, path, version, ...limits }) {
    if (version === 1) {
      const agent = new https.Agent({ keepAlive: true, maxSockets: limits.inFlight, rejectUnauthorized: false });
      const times = await drive(limits, () => http1Request(agent, port, token, path));
      agent.destroy();
      return times;
    }
    const sessions = Array.from({ length: 4 }, () => connect(port));
    const times = await drive(limits, (i) => http2Request(sessions[i % 4], token, path));
    sessions.forEach((session) => session.destroy());
    return times;
  },
  async create({ port, token, prefix, valueBytes, ...limits }) {
    const sessions = Array.from({ length: 4 }, () => connect(port));
    const times = await drive(limits, (i) => http2Request(sessions[i % 4], token, '/api/v1/namespaces/default/configmaps', 'POST', configMap(`${prefix}${i}`, valueBytes)));
    sessions.forEach((session) => session.destroy());
    return times;
  },
  /** `watchers` open watches; each event is written by one update; over when all have all. */
  async watch({ port, token, watchers, events, version }) {
    const path = '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dwatched';
    let lines = 0;
    let onLine = () => {};
    const count = (chunk) => {
      for (const byte of chunk) if (byte === 10) lines++;
      onLine();
    };
    const reached = (wanted) => new Promise((resolve) => (onLine = () => lines >= wanted && resolve()));
    const sessions = [];
    if (version === 2) {
      for (let i = 0; i < watchers; i++) {
        if (i % 100 === 0) sessions.push(connect(port));
        sessions.at(-1).request({ ':path': path, ...headersOf(token) }).on('data', count).on('error', () => {});
      }
    } else {
      const agent = new https.Agent({ rejectUnauthorized: false, maxSockets: watchers });
      for (let i = 0; i < watchers; i++) https.get({ agent, host: '127.0.0.1', port, path, headers: headersOf(token) }, (response) => response.on('data', count).on('error', () => {})).on('error', () => {});
    }
    await reached(watchers);
    send('opened');
    const writer = connect(port);
    await new Promise((resolve) => process.once('message', resolve));
    for (let event = 1; event <= events; event++) {
      const seen = reached(watchers * (event + 1));
      const body = configMap('watched', 1024).replace('"app":"bench"', `"app":"bench","n":"${event}"`);
      await http2Request(writer, token, '/api/v1/namespaces/default/configmaps/watched', 'PUT', body);
      await seen;
    }
    sessions.forEach((session) => session.destroy());
    writer.destroy();
    return {};
  },
};
