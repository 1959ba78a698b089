/** What a proxy's path names: `name`, `name:port` or `scheme:name:port`. */
export interface NamedProxyTarget {
  scheme: string;
  name: string;
  port: string;
}

const SCHEMES = new Set(['', 'http', 'https']);

/** Undefined where it is none of these (apimachinery/pkg/util/net/port_split.go). */
export function parseProxyTarget(id: string): NamedProxyTarget | undefined {
  const parts = id.split(':');
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts];
  return name && SCHEMES.has(scheme!) ? { scheme: scheme!, name, port: port ?? '' } : undefined;
}
