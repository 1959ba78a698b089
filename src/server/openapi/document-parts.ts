import type { JsonObject } from '../../encoding/json-types.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import { type Parameter, compareParameters, compareText } from './parameters.ts';
import type { Method, Route } from './routes.ts';

/** What the documents of both versions share. */

export const infoOf = (release: string): JsonObject => ({ title: 'Kubernetes', version: release });

export const securityScheme: JsonObject = { BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' } };
/** The same, with its keys in the order of v2. */
export const securityDefinition: JsonObject = {
  BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
};

/** Responses must have a description: the status' own phrase. */
export const STATUS_PHRASES: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

const METHODS: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/** Types that belong to every group-version. */
export const COMMON_KIND = /\.meta\.v1\.(DeleteOptions|WatchEvent)$/;

export interface DocumentWriter {
  /** Those that all operations of a path share, sorted. */
  parameters(parameters: readonly Parameter[]): JsonObject[];
  /** `parameters`: the others, sorted. */
  operation(route: Route, parameters: readonly Parameter[]): JsonObject;
}

/** A document, made in steps of some tens of microseconds: what runs them decides when others have their turn. */
export type DocumentSteps = SlicedWork<JsonObject>;

/** The routes by path, with the parameters that all operations of a path have told once. */
export function* pathsOf(routes: readonly Route[], writer: DocumentWriter): DocumentSteps {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const siblings = byPath.get(route.path);
    if (siblings) siblings.push(route);
    else byPath.set(route.path, [route]);
  }
  const paths: JsonObject = {};
  for (const [path, operations] of [...byPath].toSorted(([a], [b]) => compareText(a, b))) {
    yield;
    paths[path] = pathItem(operations, writer);
  }
  return paths;
}

const keyOf = ({ name, in: place }: Parameter): string => `${place} ${name}`;

function pathItem(routes: readonly Route[], writer: DocumentWriter): JsonObject {
  const counts = new Map<string, number>();
  for (const { parameters } of routes) for (const parameter of parameters) counts.set(keyOf(parameter), (counts.get(keyOf(parameter)) ?? 0) + 1);
  const isShared = (parameter: Parameter): boolean => counts.get(keyOf(parameter)) === routes.length;
  const shared = writer.parameters(routes[0]!.parameters.filter(isShared).toSorted(compareParameters));
  const operations = METHODS.flatMap((method) => {
    const route = routes.find((candidate) => candidate.method === method);
    return route ? [[method, writer.operation(route, route.parameters.filter((parameter) => !isShared(parameter)).toSorted(compareParameters))]] : [];
  });
  return { ...(Object.fromEntries(operations) as JsonObject), ...(shared.length > 0 && { parameters: shared }) };
}
