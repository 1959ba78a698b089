/** What `GET /console/activity` answers: what the server is doing. */
export interface Activity {
  time: string;
  uptimeSeconds: number;
  process: { rssBytes: number; heapUsedBytes: number; heapLimitBytes: number; externalBytes: number; cpuSeconds: number };
  eventLoop: { p50Ms: number; p99Ms: number; maxMs: number };
  store: { backend: string; sizeBytes?: number; objects: { resource: string; group: string; count: number }[] };
  requests: { inFlightReadOnly: number; inFlightMutating: number; total: number; byCode: Record<string, number> };
  watches: { user: string; userAgent: string; group: string; resource: string; count: number }[];
  clients: { user: string; userAgent: string; requests: number; errors: number; lastSeen: string }[];
  priorityLevels: { name: string; seats: number; limit: number; queued: number; executing: number; rejected: number }[];
  webhooks: { name: string; type: string; answered: number; refused: number; failed: number; p50Ms: number }[];
  policies: { name: string; type: string; evaluated: number; refused: number; failed: number }[];
}

/** A request as `GET /console/requests` tells it, when it has ended; a watch also when it begins. */
export interface RequestRecord {
  time: string;
  user: string;
  userAgent: string;
  sourceIP: string;
  verb: string;
  method: string;
  path: string;
  query?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  code: number;
  durationMs: number;
  auditID: string;
  isWatch: boolean;
  isRunning: boolean;
  /** What the answer said, where it was an error. */
  message?: string;
}

/** Was it this page that asked? Of its own requests it ends many before they are answered. */
export const isOwnRequest = ({ user, userAgent }: RequestRecord, username: string): boolean => user === username && userAgent === navigator.userAgent;

/** `kubectl/v1.36.4 (linux/amd64) kubernetes/abc` → `kubectl/v1.36.4`; of browsers, the name. */
export function shortAgent(userAgent: string): string {
  const browser = /\b(Firefox|Edg|Chrome|HeadlessChrome|Safari)\/[\d.]+/.exec(userAgent);
  if (userAgent.startsWith('Mozilla/')) return `${browser?.[1] ?? 'a browser'} (console)`;
  return userAgent.split(' ', 1)[0] || 'no user agent';
}
