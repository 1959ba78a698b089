import https from 'node:https';

/** A kube-apiserver whose facts are read. */
export interface Connection {
  text(path: string, accept?: string): Promise<string>;
  json<T>(path: string, accept?: string): Promise<T>;
}

const TIMEOUT_MS = 60_000;

/** Its certificate is not verified: what is read is public, and a test server signs for itself. */
export function connect(url: string, token: string): Connection {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  const text = (path: string, accept = 'application/json'): Promise<string> =>
    new Promise((resolve, reject) => {
      const request = https.get(new URL(path, url), { agent, headers: { accept, authorization: `Bearer ${token}` }, timeout: TIMEOUT_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(body);
          else reject(new Error(`${path}: ${response.statusCode} ${body.slice(0, 200)}`));
        });
      });
      request.on('timeout', () => request.destroy(new Error(`${path}: no answer in ${TIMEOUT_MS} ms`)));
      request.on('error', reject);
    });
  return { text, json: async <T>(path: string, accept?: string) => JSON.parse(await text(path, accept)) as T };
}
