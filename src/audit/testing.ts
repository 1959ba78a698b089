import type { AuditBackend, AuditObserver } from './backend.ts';
import type { AuditEvent } from './event.ts';

/* For tests: events, and parts that remember what they were told. */

export const testEvent = (changes: Partial<AuditEvent> = {}): AuditEvent => ({
  level: 'Metadata',
  auditId: 'id-1',
  stage: 'ResponseComplete',
  requestUri: '/api/v1/pods',
  verb: 'list',
  user: { name: 'alice', groups: ['devs'] },
  impersonatedUser: undefined,
  impersonationConstraint: '',
  sourceIps: ['127.0.0.1'],
  userAgent: 'test',
  objectRef: undefined,
  responseStatus: undefined,
  requestObject: undefined,
  responseObject: undefined,
  receivedAt: '2026-01-02T03:04:05.000600Z',
  stageAt: '2026-01-02T03:04:05.000700Z',
  annotations: new Map(),
  encoded: undefined,
  ...changes,
});

export class TestObserver implements AuditObserver {
  levels: string[] = [];
  eventCount = 0;
  errors: { plugin: string; error: string; ids: string[] }[] = [];
  onLevel(level: string): void {
    this.levels.push(level);
  }
  onEvent(): void {
    this.eventCount++;
  }
  onError(plugin: string, error: string, events: readonly AuditEvent[]): void {
    this.errors.push({ plugin, error, ids: events.map(({ auditId }) => auditId) });
  }
}

/** Keeps what it gets. Answers what `answer` does, which may be later. */
export class TestBackend implements AuditBackend {
  readonly batches: AuditEvent[][] = [];
  isClosed = false;
  answer: () => boolean | Promise<boolean>;
  constructor(answer: () => boolean | Promise<boolean> = () => true) {
    this.answer = answer;
  }
  get events(): AuditEvent[] {
    return this.batches.flat();
  }
  process(events: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.batches.push([...events]);
    return this.answer();
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }
}
