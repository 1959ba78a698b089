// The other side, in a process of its own: keeps so many requests in flight and says how long each took.
import http2 from 'node:http2';
import https from 'node:https';
import { drive } from './drive.mjs';
import { configMap, deployment, pod } from './objects.mjs';

const send = (message) => process.send(message);
process.on('message', ({ task, settings }) => {
  if (task !== undefined) TASKS[task](settings).then(send, (error) => send({ error: error.message }));
});
process.on('disconnect', () => process.exit(0));

const headersOf = (token) => ({ authorization: `Bearer ${token}`, accept: 'application/json' });

/** With the windows of Go's client, which most clients of Kubernetes are (x/net/http2 transportDefaultConnFlow, transportDefaultStreamFlow). */
const CONNECTION_WINDOW_BYTES = 1 << 30;
const STREAM_WINDOW_BYTES = 4 << 20;

function connect(port) {
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: { initialWindowSize: STREAM_WINDOW_BYTES } });
  return session.on('error', () => {}).on('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
}

const MOST_SESSIONS = 4;

/**
 * Drives requests over a few sessions. None is opened that no request uses: it would cost the server a handshake that nobody measures, and may be destroyed
 * before its 'connect' is emitted.
 */
async function driveHttp2(port, limits, request) {
  const sessions = Array.from({ length: Math.min(MOST_SESSIONS, limits.inFlight, limits.count) }, () => connect(port));
  const times = await drive(limits, (i) => request(sessions[i % sessions.length], i));
  for (const session of sessions) session.destroy();
  return times;
}

function http2Request(session, token, path, method = 'GET', body = undefined, contentType = 'application/json') {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ':method': method, ':path': path, ...headersOf(token), ...(body && { 'content-type': contentType }) },
      { endStream: !body },
    );
    let status = 0;
    let sizeBytes = 0;
    stream.on('response', (headers) => (status = headers[':status']));
    stream.on('data', (chunk) => (sizeBytes += chunk.length));
    stream.on('end', () => (status < 300 ? resolve(sizeBytes) : reject(new Error(`${method} ${path}: ${status}`))));
    stream.on('error', reject);
    if (body) stream.end(body);
  });
}

function http1Request(agent, port, token, path, method = 'GET', body = undefined) {
  const headers = { ...headersOf(token), ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }) };
  return new Promise((resolve, reject) => {
    const onResponse = (response) =>
      response.on('data', () => {}).on('end', () => (response.statusCode < 300 ? resolve() : reject(new Error(`${method} ${path}: ${response.statusCode}`))));
    https.request({ agent, host: '127.0.0.1', port, path, method, headers }, onResponse).on('error', reject).end(body);
  });
}

/** Drives requests over kept connections of HTTP/1.1. */
async function driveHttp1(limits, request) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: limits.inFlight, rejectUnauthorized: false });
  const times = await drive(limits, (i) => request(agent, i));
  agent.destroy();
  return times;
}

const BODIES = { configmaps: configMap, pods: pod };

const TASKS = {
  async get({ port, token, path, version, ...limits }) {
    if (version === 1) return driveHttp1(limits, (agent) => http1Request(agent, port, token, path));
    return driveHttp2(port, limits, (session) => http2Request(session, token, path));
  },
  /** How many bytes one answer has. */
  async size({ port, token, path }) {
    const session = connect(port);
    const sizeBytes = await http2Request(session, token, path);
    session.destroy();
    return { sizeBytes };
  },
  async create({ port, token, prefix, valueBytes, version = 2, namespace = 'default', resource = 'configmaps', ...limits }) {
    const path = `/api/v1/namespaces/${namespace}/${resource}`;
    const bodyOf = (i) => BODIES[resource](`${prefix}${i}`, valueBytes);
    if (version === 1) return driveHttp1(limits, (agent, i) => http1Request(agent, port, token, path, 'POST', bodyOf(i)));
    return driveHttp2(port, limits, (session, i) => http2Request(session, token, path, 'POST', bodyOf(i)));
  },
  /** Changes a label of each of those that `create` made, by a merge patch. */
  async patch({ port, token, prefix, namespace = 'default', ...limits }) {
    const pathOf = (i) => `/api/v1/namespaces/${namespace}/configmaps/${prefix}${i}`;
    const bodyOf = (i) => JSON.stringify({ metadata: { labels: { changed: `n${i}` } } });
    return driveHttp2(port, limits, (session, i) => http2Request(session, token, pathOf(i), 'PATCH', bodyOf(i), 'application/merge-patch+json'));
  },
  async remove({ port, token, prefix, namespace = 'default', resource, ...limits }) {
    return driveHttp2(port, limits, (session, i) => http2Request(session, token, `/api/v1/namespaces/${namespace}/${resource}/${prefix}${i}`, 'DELETE'));
  },
  /** Applies deployments anew, each with another image than the last time. */
  async apply({ port, token, deployments, ...limits }) {
    const session = connect(port);
    const times = await drive(limits, (i) => {
      const name = `web-${i % deployments}`;
      const path = `/apis/apps/v1/namespaces/default/deployments/${name}?fieldManager=bench`;
      return http2Request(session, token, path, 'PATCH', deployment(name, i), 'application/apply-patch+yaml');
    });
    session.destroy();
    return times;
  },
  /** Makes objects of a body in which `{{name}}` stands for each one's name. */
  async post({ port, token, path, body, prefix, ...limits }) {
    const session = connect(port);
    const times = await drive(limits, (i) => http2Request(session, token, path, 'POST', body.replaceAll('{{name}}', `${prefix}${i}`)));
    session.destroy();
    return times;
  },
  /** `watchers` open watches of one object; each event is written by one update; over when all have all. Says so when they are open, and waits for a word. */
  async watch({ port, token, name, watchers, events, valueBytes, version }) {
    const path = `/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0&fieldSelector=metadata.name%3D${name}`;
    let lines = 0;
    let onLines;
    const count = (chunk) => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
      onLines?.();
    };
    /** All watchers have had so many events. */
    const reached = (wanted) => new Promise((resolve) => (onLines = () => lines >= wanted * watchers && resolve()));
    const isOpen = reached(1);
    for (const start of watchStarters({ port, token, path, version, watchers })) start(count);
    await isOpen;
    const writer = connect(port);
    const isToldToGo = new Promise((resolve) => process.once('message', resolve));
    send({});
    await isToldToGo;
    for (let event = 1; event <= events; event++) {
      const seen = reached(event + 1);
      const body = configMap(name, valueBytes).replace('"app":"bench"', `"app":"bench","n":"${event}"`);
      await http2Request(writer, token, `/api/v1/namespaces/default/configmaps/${name}`, 'PUT', body);
      await seen;
    }
    return {};
  },
};

const WATCHES_A_CONNECTION = 100;

/** One function a watch, which begins it: 100 to a connection over HTTP/2, each on its own over HTTP/1.1. */
function watchStarters({ port, token, path, version, watchers }) {
  if (version === 2) {
    const sessions = Array.from({ length: Math.ceil(watchers / WATCHES_A_CONNECTION) }, () => connect(port));
    return Array.from(
      { length: watchers },
      (_, i) => (onData) =>
        sessions[i % sessions.length]
          .request({ ':path': path, ...headersOf(token) })
          .on('data', onData)
          .on('error', () => {}),
    );
  }
  const agent = new https.Agent({ rejectUnauthorized: false, maxSockets: watchers });
  const settings = { agent, host: '127.0.0.1', port, path, headers: headersOf(token) };
  return Array.from(
    { length: watchers },
    () => (onData) => https.get(settings, (response) => response.on('data', onData).on('error', () => {})).on('error', () => {}),
  );
}
