/** What a path of the API names: a collection, or one object of it. The console's own addresses are these paths, behind a `#`. */
export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  namespace?: string;
  name?: string;
}

const CORE = 'api';

export function formatPath({ group, version, plural, namespace, name }: ResourcePath): string {
  const root = group === '' ? `/${CORE}/${version}` : `/apis/${group}/${version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** As the server reads a path (kubernetes: apiserver/pkg/endpoints/request/requestinfo.go): below a namespace's name stands what lies in it. */
export function parsePath(path: string): ResourcePath | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodePart);
  const [root, ...rest] = parts;
  if (root !== CORE && root !== 'apis') return undefined;
  const group = root === CORE ? '' : rest.shift();
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0 || rest.length > 4) return undefined;
  const isInNamespace = rest[0] === 'namespaces' && rest.length > 2;
  const namespace = isInNamespace ? rest[1] : undefined;
  const [plural, name, ...more] = isInNamespace ? rest.slice(2) : rest;
  if (plural === undefined || more.length > 0) return undefined;
  return { group, version, plural, ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
