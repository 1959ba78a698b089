import { expect, it } from 'vitest';
import type { RequestContext } from './request-context.ts';
import { type WriteWay, annotationOf, authorOf } from './write-author.ts';

const AGENT = 'kubectl/v1.34 (linux/amd64)';

/** The parts of an annotation: the audit id, and the author. */
function annotated(context: Partial<RequestContext>, way: WriteWay): { auditId: string; author: ReturnType<typeof authorOf> } {
  const full = { user: { name: 'jane', groups: ['dev'] }, userAgent: AGENT, auditId: 'id', clientName: 'jane', ...context } as RequestContext;
  const text = annotationOf({ annotatesWrites: true }, full, way).annotation!.toString();
  const lineEnd = text.indexOf('\n');
  return { auditId: text.slice(0, lineEnd), author: authorOf(text.slice(lineEnd + 1)) };
}

const JANE = { verb: 'update', subresource: '', username: 'jane', groups: ['dev'], impersonator: '', userAgent: AGENT, fieldManager: 'kubectl' };

it('tells who made a write, and how', () => {
  expect(annotated({}, { verb: 'update' })).toEqual({ auditId: 'id', author: JANE });
  expect(annotationOf({ annotatesWrites: false }, {} as RequestContext, { verb: 'update' })).toEqual({});
});

it('a write that differs in one thing from those before has an author of its own, and is told the same when it comes again', () => {
  const writes: [Partial<RequestContext>, WriteWay, Partial<typeof JANE>][] = [
    [{}, { verb: 'update' }, {}],
    [{}, { verb: 'patch' }, { verb: 'patch' }],
    [{}, { verb: 'update', subresource: 'status' }, { subresource: 'status' }],
    [{}, { verb: 'update', fieldManager: 'me' }, { fieldManager: 'me' }],
    [{ userAgent: 'curl/8' }, { verb: 'update' }, { userAgent: 'curl/8', fieldManager: 'curl' }],
    [{ clientName: 'root' }, { verb: 'update' }, { impersonator: 'root' }],
    [{ user: { name: 'jane', groups: ['dev', 'ops'] } as RequestContext['user'] }, { verb: 'update' }, { groups: ['dev', 'ops'] }],
    [{ user: { name: 'jane', groups: [] as string[] } as RequestContext['user'] }, { verb: 'update' }, { groups: [] }],
    [{ user: { name: 'joe', groups: ['dev'] } as RequestContext['user'], clientName: 'joe' }, { verb: 'update' }, { username: 'joe' }],
    [{ userAgent: 'x'.repeat(5_000) }, { verb: 'update', fieldManager: 'me' }, { userAgent: 'x'.repeat(256), fieldManager: 'me' }],
  ];
  for (let round = 0; round < 3; round++) {
    for (const [index, [context, way, differs]] of writes.entries()) {
      const auditId = `${round}-${index}`;
      expect(annotated({ ...context, auditId }, way)).toEqual({ auditId, author: { ...JANE, ...differs } });
    }
  }
});

it('tells authors apart where there are more than it remembers', () => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 1_500; index++) {
      const name = `user-${index}`;
      const user = { name, groups: ['dev'] } as RequestContext['user'];
      expect(annotated({ user, clientName: name }, { verb: 'update' }).author).toEqual({ ...JANE, username: name });
    }
  }
});
